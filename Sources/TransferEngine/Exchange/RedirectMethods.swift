/// The method and the body of the request that follows a redirect.
///
/// The default is the rule of RFC 9110 §15.4: a 303 turns every method but HEAD into GET, and a 301 and a 302 turn POST.
/// The deviations are those of curl(1).
package struct RedirectMethods: Sendable, Hashable {
    /// Whether the method stays also where the body is dropped (curl's `--request`).
    package var keepsMethod = false
    /// The statuses at which a POST stays a POST with its body (curl's `--post301`, `--post302`, `--post303`).
    package var keepsPost: Set<Int> = []

    /// Creates the rule of RFC 9110.
    package init() {}

    /// The effect of a redirect on a request.
    package enum Effect: Sendable, Hashable {
        /// The request is repeated as it was.
        case none
        /// The request becomes a GET without a body.
        case turned
        /// The request keeps its method and loses its body.
        case emptied
    }

    /// Returns the effect of a redirect.
    package func effect(of status: Int, on method: String, sendsBody: Bool) -> Effect {
        if sendsBody, keepsPost.contains(status) { return .none }
        guard keepsMethod else { return Self.turns(method, by: status) ? .turned : .none }
        return sendsBody && (301...303).contains(status) ? .emptied : .none
    }

    /// Returns whether a redirect turns a request with that method into a GET (RFC 9110 §15.4).
    package static func turns(_ method: String, by status: Int) -> Bool {
        switch status {
        case 303: method != "HEAD"
        case 301, 302: method == "POST"
        default: false
        }
    }
}
