package rest

import "regexp"

var requestID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

func validID(id string) bool { return requestID.MatchString(id) }
