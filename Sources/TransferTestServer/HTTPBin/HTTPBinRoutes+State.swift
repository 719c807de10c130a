extension HTTPBinRoutes {
    static let cookies: [HTTPBinRoute] = [
        HTTPBinRoute("/cookies") { request in
            let cookies = request.headers.all("Cookie").flatMap { $0.split(separator: ";") }.map { cookie in
                let parts = cookie.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return (parts[0].trimmingSpaces, JSONValue.string(parts.count > 1 ? parts[1].trimmingSpaces : ""))
            }
            return .json(.object(["cookies": .object(Dictionary(cookies) { first, _ in first })]))
        },
        HTTPBinRoute("/cookies/set") { request in
            setting(request.args.fields.map { "\($0.name)=\($0.value); Path=/" })
        },
        HTTPBinRoute("/cookies/set/:/:") { setting(["\($0.parameters[0])=\($0.parameters[1]); Path=/"]) },
        HTTPBinRoute("/cookies/delete") { request in
            setting(request.args.fields.map { "\($0.name)=; Expires=\(HTTPDate.string(0)); Max-Age=0; Path=/" })
        },
    ]

    static let caching: [HTTPBinRoute] = [
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
            plan.body = [.bytes(told(plan.headers))]
            return plan
        },
    ]

    private static func setting(_ cookies: [String]) -> ResponsePlan {
        var plan = ResponsePlan.redirect(to: "/cookies")
        for cookie in cookies { plan.headers.add("Set-Cookie", cookie) }
        return plan
    }

    /// The fields as JSON. Content-Length is one of them, so that the text is made until its length says itself.
    private static func told(_ headers: HeaderFields) -> [UInt8] {
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
