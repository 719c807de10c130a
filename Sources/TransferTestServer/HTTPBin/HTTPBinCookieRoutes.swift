/// The routes of httpbin that set and list cookies.
enum HTTPBinCookieRoutes {
    static let all: [HTTPBinRoute] = [
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

    private static func setting(_ cookies: [String]) -> ResponsePlan {
        var plan = ResponsePlan.redirect(to: "/cookies")
        for cookie in cookies { plan.headers.add("Set-Cookie", cookie) }
        return plan
    }
}
