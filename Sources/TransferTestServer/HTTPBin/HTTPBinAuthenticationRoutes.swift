/// The routes of httpbin that require authentication.
enum HTTPBinAuthenticationRoutes {
    static let all: [HTTPBinRoute] = [
        HTTPBinRoute("/basic-auth/:/:") { basic($0) ?? refusal(BasicCredentials.challenge) },
        HTTPBinRoute("/hidden-basic-auth/:/:") { basic($0) ?? ResponsePlan(status: 404, headers: [:]) },
        HTTPBinRoute("/bearer") { request in
            guard let field = request.headers["Authorization"], field.hasPrefix("Bearer ") else {
                return refusal("Bearer")
            }
            return .json(.object(["authenticated": .bool(true), "token": .string(String(field.dropFirst(7)))]))
        },
        HTTPBinRoute("/digest-auth/:/:/:") { digest($0, .md5) },
        HTTPBinRoute("/digest-auth/:/:/:/:") { request in
            DigestAlgorithm(rawValue: request.parameters[3]).map { digest(request, $0) }
                ?? .page("Not Found", status: 404)
        },
    ]

    private static func basic(_ request: HTTPBinRequest) -> ResponsePlan? {
        let wanted = BasicCredentials(user: request.parameters[0], password: request.parameters[1])
        return BasicCredentials(request.headers["Authorization"]) == wanted ? welcome(wanted.user) : nil
    }

    private static func digest(_ request: HTTPBinRequest, _ algorithm: DigestAlgorithm) -> ResponsePlan {
        let check = DigestCheck(
            algorithm: algorithm, user: request.parameters[1], password: request.parameters[2],
            method: request.method, target: request.target)
        // The value `auth-int` covers the body too, which this check does not support.
        guard request.parameters[0] == "auth" else { return .page("Not Found", status: 404) }
        return check.accepts(request.headers["Authorization"]) ? welcome(check.user) : refusal(check.challenge)
    }

    private static func welcome(_ user: String) -> ResponsePlan {
        .json(.object(["authenticated": .bool(true), "user": .string(user)]))
    }

    private static func refusal(_ challenge: String) -> ResponsePlan {
        ResponsePlan(status: 401, headers: ["WWW-Authenticate": challenge])
    }
}

/// The credentials of basic authentication (RFC 7617).
struct BasicCredentials: Equatable {
    static let challenge = "Basic realm=\"Fake Realm\""

    let user: String
    let password: String

    init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    init?(_ field: String?) {
        guard let field, field.lowercased().hasPrefix("basic "),
            let bytes = Base64.decoded(field.dropFirst(6).trimmingSpaces)
        else { return nil }
        let parts = String(decoding: bytes, as: UTF8.self)
            .split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        self.init(user: String(parts[0]), password: String(parts[1]))
    }
}
