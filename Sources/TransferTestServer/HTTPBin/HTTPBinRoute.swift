/// A path of httpbin with its responses.
struct HTTPBinRoute: Sendable {
    let methods: [String]
    /// The path, in which `:` stands for a parameter and `*` for any remainder.
    let path: String
    let answer: @Sendable (HTTPBinRequest) -> ResponsePlan

    static let everyMethod = ["GET", "POST", "PUT", "DELETE", "PATCH", "TRACE"]

    init(
        _ path: String, _ methods: [String] = ["GET"], _ answer: @escaping @Sendable (HTTPBinRequest) -> ResponsePlan
    ) {
        self.methods = methods
        self.path = path
        self.answer = answer
    }

    var firstPart: String { String(path.split(separator: "/")[0]) }

    /// Matches the path.
    ///
    /// - Returns: The parameters; `nil` where the path differs.
    func parameters(in parts: [Substring]) -> [String]? {
        var parameters: [String] = []
        var rest = parts[...]
        for wanted in path.split(separator: "/") {
            if wanted == "*" { return parameters }
            guard let part = rest.popFirst() else { return nil }
            if wanted == ":" {
                parameters.append(FormFields.decoded(part, plusIsSpace: false))
            } else if part != wanted {
                return nil
            }
        }
        return rest.isEmpty ? parameters : nil
    }
}

/// The request, as a route receives it.
@dynamicMemberLookup
struct HTTPBinRequest {
    let request: Request
    /// The client's address.
    let origin: String
    /// The decoded values of the path's parameters.
    let parameters: [String]
    /// The query.
    let args: FormFields

    subscript<Value>(dynamicMember member: KeyPath<RequestHead, Value>) -> Value { request.head[keyPath: member] }

    var url: String { base + self.path + (self.query.map { "?\($0)" } ?? "") }

    /// The scheme and authority, `http://host:port`.
    var base: String {
        let target = self.target
        guard target.lowercased().hasPrefix("http://") else { return "http://\(self.headers["Host"] ?? "")" }
        let end = target.dropFirst(7).firstIndex { "/?".contains($0) } ?? target.endIndex
        return String(target[..<end])
    }

    /// Returns a parameter that is a size or a count.
    func number(_ index: Int) -> Int? {
        let text = parameters[index]
        return text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } ? Int(text) : nil
    }
}

/// The choice among routes with the same beginning.
struct HTTPBinRouter: Sendable {
    let routes: [HTTPBinRoute]
    let origin: String

    func answer(_ request: Request) -> ResponsePlan {
        var plan = plan(for: request)
        plan.headers["Access-Control-Allow-Origin"] = request.headers["Origin"] ?? "*"
        plan.headers["Access-Control-Allow-Credentials"] = "true"
        return plan
    }

    private func plan(for request: Request) -> ResponsePlan {
        let parts = request.path.split(separator: "/")
        let found = routes.compactMap { route in route.parameters(in: parts).map { (route, $0) } }
        guard !found.isEmpty else { return .page("Not Found", status: 404) }
        // A route for GET also answers HEAD, as in Flask.
        let method = request.method == "HEAD" ? "GET" : request.method
        if let (route, parameters) = found.first(where: { $0.0.methods.contains(method) }) {
            return route.answer(
                HTTPBinRequest(
                    request: request, origin: request.headers["X-Forwarded-For"] ?? origin, parameters: parameters,
                    args: FormFields(request.query ?? "")))
        }
        var allowed = found.flatMap(\.0.methods)
        if allowed.contains("GET") { allowed.append("HEAD") }
        var plan =
            request.method == "OPTIONS"
            ? ResponsePlan(status: 200, headers: [:]) : .page("Method Not Allowed", status: 405)
        plan.headers["Allow"] = (allowed + ["OPTIONS"]).joined(separator: ", ")
        if request.method == "OPTIONS" {
            plan.headers["Access-Control-Allow-Methods"] = "GET, POST, PUT, DELETE, PATCH, OPTIONS"
            plan.headers["Access-Control-Max-Age"] = "3600"
        }
        return plan
    }

    /// Returns the client's address. Clients connect over loopback, so it is the server's own.
    static func address(of url: String) -> String {
        let host = ResourceKey.hostName(url.dropFirst(7))
        return host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    }
}

extension ResponsePlan {
    static func json(_ value: JSONValue, status: Int = 200) -> ResponsePlan {
        .body(.text(value.indented), type: "application/json", status: status)
    }

    static func body(_ content: Content, type: String, status: Int = 200) -> ResponsePlan {
        ResponsePlan(Response(status: status, headers: ["Content-Type": type], body: content))
    }

    /// Returns a page with a title and nothing else.
    static func page(_ title: String, status: Int) -> ResponsePlan {
        let text = "<!doctype html>\n<html lang=en>\n<title>\(status) \(title)</title>\n<h1>\(title)</h1>\n"
        return .body(.text(text), type: "text/html; charset=utf-8", status: status)
    }

    static func redirect(to location: String, status: Int = 302) -> ResponsePlan {
        ResponsePlan(status: status, headers: ["Content-Type": "text/html; charset=utf-8", "Location": location])
    }
}
