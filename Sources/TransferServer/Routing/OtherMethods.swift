import HTTPTypes
import Hummingbird

/// The responses to methods that a path does not have: a refusal with the methods that it has (RFC 9110 §15.5.6).
enum OtherMethods {
    private static let known: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete]

    /// Adds the responses for all paths that the router has.
    static func add(to router: Router<ServerContext>) {
        var paths: [String: (path: RouterPath, methods: Set<HTTPRequest.Method>)] = [:]
        for route in router.routes {
            paths[route.path.description, default: (route.path, [])].methods.insert(route.method)
        }
        for (path, methods) in paths.values {
            var offered = methods
            // The router answers HEAD by the route of GET.
            if offered.contains(.get) { offered.insert(.head) }
            let allowed = known.filter(offered.contains).map(\.rawValue).joined(separator: ", ")
            for method in known where !offered.contains(method) {
                router.on(path, method: method) { _, _ -> Response in
                    var problem = Problem(
                        .methodNotAllowed, "methodNotAllowed", "\(method) is not a method of this path: \(allowed)")
                    problem.headers[.allow] = allowed
                    throw problem
                }
            }
            router.on(path, method: .options) { _, _ in
                Response(status: .noContent, headers: [.allow: "\(allowed), OPTIONS"])
            }
        }
    }
}
