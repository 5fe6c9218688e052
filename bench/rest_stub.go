package main

import "context"

func guard(context.Context, []string, streams, func(string) string) error     { return nil }
func allocs(context.Context, []string, streams, func(string) string) error    { return nil }
func capacity(context.Context, []string, streams, func(string) string) error  { return nil }
func soak(context.Context, []string, streams, func(string) string) error      { return nil }
func drawChart(context.Context, []string, streams, func(string) string) error { return nil }
