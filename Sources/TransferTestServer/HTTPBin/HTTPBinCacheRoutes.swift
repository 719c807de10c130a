/// The routes of httpbin that are about caches and header fields.
enum HTTPBinCacheRoutes {
    static let all: [HTTPBinRoute] = [
        HTTPBinRoute("/cache") { request in
            guard request.headers["If-None-Match"] == nil, request.headers["If-Modified-Since"] == nil else {
                return ResponsePlan(status: 304, headers: [:])
            }
            var plan = ResponsePlan.json(.object(request.described))
            plan.headers["Last-Modified"] = HTTPDate.now
            plan.headers["ETag"] = "\"cache\""
            return plan
        },
        HTTPBinRoute("/cache/:") { request in
            guard let seconds = request.number(0) else { return .page("Not Found", status: 404) }
            var plan = ResponsePlan.json(.object(request.described))
            plan.headers["Cache-Control"] = "public, max-age=\(seconds)"
            return plan
        },
        HTTPBinRoute("/etag/:") { request in
            ServedFile(
                .text(JSONValue.object(request.described).indented), etag: "\"\(request.parameters[0])\"",
                contentType: "application/json", acceptsRanges: false
            ).answer(to: request.request.head)
        },
        HTTPBinRoute("/response-headers", ["GET", "POST"]) { request in
            var plan = ResponsePlan(status: 200, headers: ["Content-Type": "application/json"])
            for field in request.args.fields { plan.headers.add(field.name, field.value) }
            plan.body = [.bytes(reported(plan.headers))]
            return plan
        },
    ]

    /// The fields as JSON. Content-Length is one of them, so that the text is made until its length says itself.
    private static func reported(_ headers: HeaderFields) -> [UInt8] {
        var fields = FormFields()
        for field in headers.fields { fields.add(field.name, field.value) }
        var length = 0
        while true {
            var all = fields
            all.add("Content-Length", "\(length)")
            let text = Array(all.json.indented.utf8)
            if text.count == length { return text }
            length = text.count
        }
    }
}
