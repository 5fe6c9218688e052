package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"strings"
)

// Prefix begins every token that Mint makes, so that one that leaked can be
// recognised: sluice_, 52 of a-z and 2-7, and 8 hexadecimal digits that are the
// CRC-32 of all before them.
const Prefix = "sluice_"

// Mint makes a token of 260 random bits.
func Mint() string {
	body := Prefix + strings.ToLower(rand.Text()+rand.Text())
	return fmt.Sprintf("%s%08x", body, crc32.ChecksumIEEE([]byte(body)))
}

// Minted says whether a text has the form of Mint's tokens and its checksum fits.
func Minted(token string) bool {
	const checksum = 8
	if !strings.HasPrefix(token, Prefix) || len(token) < len(Prefix)+checksum {
		return false
	}
	body, sum := token[:len(token)-checksum], token[len(token)-checksum:]
	return sum == fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(body)))
}

// DigestOf is what stands for a token in the tokens file.
func DigestOf(token string) [sha256.Size]byte { return sha256.Sum256([]byte(token)) }
