/// The routes of httpbin whose path determines the status.
enum HTTPBinStatusRoutes {
    static let all: [HTTPBinRoute] = [
        HTTPBinRoute("/status/:", HTTPBinRoute.everyMethod) { request in
            guard let status = request.number(0), 200...999 ~= status else {
                return .body(.text("Invalid status code"), type: "text/plain; charset=utf-8", status: 400)
            }
            return answer(status)
        },
        HTTPBinRoute("/redirect/:") { redirect($0, to: "/relative-redirect", end: "/get") },
        HTTPBinRoute("/relative-redirect/:") { redirect($0, to: "/relative-redirect", end: "/get") },
        HTTPBinRoute("/absolute-redirect/:") { request in
            redirect(request, to: request.base + "/absolute-redirect", end: request.base + "/get")
        },
        HTTPBinRoute("/redirect-to", HTTPBinRoute.everyMethod) { request in
            guard let location = request.args["url"] else { return .page("Bad Request", status: 400) }
            let status = request.args["status_code"].flatMap { Int($0) } ?? 302
            return .redirect(to: location, status: 300..<400 ~= status ? status : 302)
        },
    ]

    private static func answer(_ status: Int) -> ResponsePlan {
        var plan = ResponsePlan(status: status, headers: [:])
        switch status {
        case 301, 302, 303, 305, 307: plan.headers["Location"] = "/redirect/1"
        case 401: plan.headers["WWW-Authenticate"] = BasicCredentials.challenge
        default: plan.headers["Content-Type"] = "text/html; charset=utf-8"
        }
        return plan
    }

    /// Returns the redirect for a number of steps, the last of which leads to the end.
    private static func redirect(_ request: HTTPBinRequest, to path: String, end: String) -> ResponsePlan {
        guard let steps = request.number(0), steps > 0 else { return .page("Not Found", status: 404) }
        return .redirect(to: steps == 1 ? end : "\(path)/\(steps - 1)")
    }
}
