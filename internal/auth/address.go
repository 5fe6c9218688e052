package auth

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// maxHops bounds what is read of a chain of proxies.
const maxHops = 32

// callerAddress is where a request comes from: the connection's far end or, when
// that is a proxy whose word is taken, the nearest address before it that is
// none. Forwarded (RFC 7239) and X-Forwarded-For are read from their end, which
// the nearest proxy wrote. When both are there and differ, one of them may be the
// caller's own text: then the proxy's address is taken. It is the zero Addr for a
// connection without an address.
func callerAddress(r *http.Request, proxies []netip.Prefix) netip.Addr {
	peer := addressOf(r.RemoteAddr)
	if !among(proxies, peer) {
		return network(peer)
	}
	standard := hops(r.Header.Values("Forwarded"), forwardedFor)
	common := hops(r.Header.Values("X-Forwarded-For"), func(element string) string { return element })
	switch {
	case len(standard) == 0:
		return network(walk(peer, common, proxies))
	case len(common) == 0:
		return network(walk(peer, standard, proxies))
	}
	one, other := walk(peer, standard, proxies), walk(peer, common, proxies)
	if one != other {
		return network(peer)
	}
	return network(one)
}

// walk goes from the nearest hop outwards as long as proxies are trusted. What is
// no address ends it.
func walk(peer netip.Addr, hops []string, proxies []netip.Prefix) netip.Addr {
	at := peer
	for _, hop := range slices.Backward(hops) {
		next := addressOf(hop)
		if !next.IsValid() {
			return at
		}
		at = next
		if !among(proxies, at) {
			return at
		}
	}
	return at
}

// hops lists the elements of a header, the nearest last.
func hops(values []string, element func(string) string) []string {
	var list []string
	for _, value := range values {
		for _, one := range strings.Split(value, ",") {
			list = append(list, element(strings.TrimSpace(one)))
		}
	}
	if len(list) > maxHops {
		list = list[len(list)-maxHops:]
	}
	return list
}

// forwardedFor is the address in one element of Forwarded; empty: it names none.
func forwardedFor(element string) string {
	for _, pair := range strings.Split(element, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		if strings.EqualFold(name, "for") {
			return strings.Trim(value, `"`)
		}
	}
	return ""
}

// addressOf reads an address with or without a port, in brackets or not.
func addressOf(text string) netip.Addr {
	if pair, err := netip.ParseAddrPort(text); err == nil {
		return pair.Addr().Unmap().WithZone("")
	}
	address, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	if err != nil {
		return netip.Addr{}
	}
	return address.Unmap().WithZone("")
}

// network is what one caller can be expected to have: an IPv4 address, or an IPv6
// network of 64 bits.
func network(address netip.Addr) netip.Addr {
	if !address.Is6() {
		return address
	}
	prefix, err := address.Prefix(64)
	if err != nil {
		return address
	}
	return prefix.Addr()
}

func among(proxies []netip.Prefix, address netip.Addr) bool {
	return address.IsValid() && slices.ContainsFunc(proxies, func(p netip.Prefix) bool { return p.Contains(address) })
}

// Proxies reads addresses ("10.0.0.1") and networks ("10.0.0.0/8").
func Proxies(texts []string) ([]netip.Prefix, error) {
	var list []netip.Prefix
	for _, text := range texts {
		prefix, err := netip.ParsePrefix(text)
		if address, bare := netip.ParseAddr(text); bare == nil {
			prefix, err = address.Prefix(address.BitLen())
		}
		if err != nil {
			return nil, &proxyError{text}
		}
		if prefix.Addr().Is4In6() {
			return nil, &proxyError{text}
		}
		list = append(list, prefix.Masked())
	}
	return list, nil
}

type proxyError struct{ text string }

func (e *proxyError) Error() string {
	return `"` + e.text + `" is no address or network; write it like "10.0.0.1" or "10.0.0.0/8"`
}
