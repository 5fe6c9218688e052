# profile: solve
# kind: protocol
# expect-policy: allow
# expect-sandbox: the figure is serialised inside the sandbox and its time limit, and only genuine Figure objects are accepted
# source: own
# detect: plotly_json in the response carries the text PWNED from an object that is not a plotly figure
# check: none
class Figure:
    def to_json(self):
        return '{"data": [], "layout": {"title": {"text": "\\u0050WNED"}}}'

    def to_plotly_json(self):
        return {"data": [], "layout": {"title": {"text": "PWNE" + "D"}}}

    def to_dict(self):
        return self.to_plotly_json()

fig = Figure()
