package rest_test

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

func calls(t *testing.T, w *httptest.ResponseRecorder) (items []map[string]any, results []observed) {
	t.Helper()
	got := read[struct {
		Items   []map[string]any
		Results []observed
	}](t, w, 200)
	if len(got.Items) != len(got.Results) {
		t.Errorf("%d items, %d results", len(got.Items), len(got.Results))
	}
	return got.Items, got.Results
}

func TestChatToolCalls(t *testing.T) {
	l, _ := newKeepingLab(t)
	items, results := calls(t, l.do(call{path: "/v1/tool_calls", token: token, body: `{"role":"assistant","content":null,"tool_calls":[
		{"id":"c1","type":"function","function":{"name":"stateful_python_code_exec","arguments":"{\"code\":\"+a\"}"}},
		{"id":"c2","type":"function","function":{"name":"calculator","arguments":"{\"expression\":\"1+1\"}"}},
		{"id":"c3","type":"function","function":{"name":"nosuch","arguments":"{}"}},
		{"id":"c4","function":{"name":"python","arguments":{"code":"all"}}},
		{"id":"c5","type":"function","function":{"name":"python","arguments":"{"}}]}`}))
	var got []string
	for i, item := range items {
		got = append(got, fmt.Sprint(item["role"], " ", item["tool_call_id"], " ", item["content"]))
		if results[i].Output != item["content"] {
			t.Errorf("result %d: %+v", i, results[i])
		}
	}
	want := []string{
		"tool c1 None", "tool c2 1+1", `tool c3 no such tool: "nosuch"; there are calculator, stateful_python_code_exec`, "tool c4 a", "tool c5 arguments: must be a JSON object, or one as a JSON string",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if !results[0].OK || results[2].OK || results[2].Status != "error" || *results[3].State != "kept" || *results[3].SessionID != *results[0].SessionID {
		t.Errorf("%+v", results)
	}
}

func TestResponsesToolCalls(t *testing.T) {
	l, _ := newKeepingLab(t)
	s := read[sessionText](t, l.session("POST", "", ""), 201)
	items, results := calls(t, l.do(call{path: "/v1/tool_calls", token: token, body: `{"session_id":"` + s.ID + `","output":[
		{"type":"reasoning","id":"r1","summary":[]},
		{"type":"function_call","id":"f1","call_id":"c1","name":"python","arguments":"{\"code\":\"+a\"}","status":"completed"},
		{"type":"message","role":"assistant","content":[]},
		{"type":"function_call","call_id":"c2","name":"python","arguments":"{\"code\":\"all\"}"}]}`}))
	if len(items) != 2 || fmt.Sprint(items[1]) != "map[call_id:c2 output:a type:function_call_output]" || *results[1].SessionID != s.ID {
		t.Errorf("%v, %+v", items, results)
	}
	if items, _ := calls(t, l.do(call{path: "/v1/tool_calls", token: token, body: `{"tool_calls":[]}`})); len(items) != 0 {
		t.Errorf("%v", items)
	}
}

func TestMalformedToolCalls(t *testing.T) {
	l, n := newKeepingLab(t)
	good := `{"id":"c","type":"function","function":{"name":"python","arguments":{"code":"+a"}}}`
	for body, want := range map[string]string{
		`{}`: "tool_calls", `{"tool_calls":[],"output":[]}`: "output", `{"tool_calls":{}}`: "tool_calls",
		`{"tool_calls":[` + good + `,7]}`:                              "tool_calls.1",
		`{"tool_calls":[` + good + `,{"type":"message"}]}`:             "tool_calls.1",
		`{"tool_calls":[` + good + `,{"function":{"name":"x"}}]}`:      "tool_calls.1.id",
		`{"tool_calls":[` + good + `,{"id":"c","function":{}}]}`:       "tool_calls.1.function.name",
		`{"output":[{"type":"function_call","name":"x"}]}`:             "output.0.call_id",
		`{"output":[{"type":"function_call","call_id":"x"}]}`:          "output.0.name",
		`{"tool_calls":[` + good + `],"wait":-1}`:                      "wait",
		`{"tool_calls":[` + strings.Repeat(good+",", 64) + good + `]}`: "at most 64",
	} {
		if w := l.do(call{path: "/v1/tool_calls", token: token, body: body}); w.Code != 422 || !strings.Contains(detail(w), want) {
			t.Errorf("%.80s: %d %s", body, w.Code, w.Body)
		}
	}
	if len(n.sources) != 0 {
		t.Error("a call was run of a request that was refused")
	}
}
