import TransferCore

/// A request on the wire: the first, or one after a redirect or a new start. A copy only increments one reference
/// count.
struct Hop: Sendable, Equatable {
    @Shared private var fields: Fields

    init(
        url: String, method: String, headers: [HeaderField], sendsBody: Bool, sendsCredentials: Bool = true,
        mayExpect: Bool = true, authorization: Authorization? = nil, fragment: String? = nil
    ) {
        fields = Fields(
            url: url, method: method, headers: headers, sendsBody: sendsBody, sendsCredentials: sendsCredentials,
            mayExpect: mayExpect, authorization: authorization, fragment: fragment)
    }

    var url: String {
        _read { yield fields.url }
        _modify { yield &fields.url }
    }

    var method: String {
        _read { yield fields.method }
        _modify { yield &fields.method }
    }

    var headers: [HeaderField] {
        _read { yield fields.headers }
        _modify { yield &fields.headers }
    }

    var sendsBody: Bool {
        _read { yield fields.sendsBody }
        _modify { yield &fields.sendsBody }
    }

    var sendsCredentials: Bool {
        _read { yield fields.sendsCredentials }
        _modify { yield &fields.sendsCredentials }
    }

    /// Whether the server may be asked before the body is sent.
    var mayExpect: Bool {
        _read { yield fields.mayExpect }
        _modify { yield &fields.mayExpect }
    }

    /// Whether the server is asked before the body is sent, because a refusal is expected.
    var asksFirst: Bool {
        _read { yield fields.asksFirst }
        _modify { yield &fields.asksFirst }
    }

    /// The authorisation of this hop only.
    var authorization: Authorization? {
        _read { yield fields.authorization }
        _modify { yield &fields.authorization }
    }

    /// The machine whose entry of `.netrc` the hop carries, where it left the original origin.
    var netrcMachine: String? {
        _read { yield fields.netrcMachine }
        _modify { yield &fields.netrcMachine }
    }

    /// The URL's fragment, which is never sent.
    var fragment: String? {
        _read { yield fields.fragment }
        _modify { yield &fields.fragment }
    }

    /// The body that is sent in place of the request's own.
    var replacedBody: [UInt8]? {
        _read { yield fields.replacedBody }
        _modify { yield &fields.replacedBody }
    }

    private struct Fields: Sendable, Equatable {
        var url: String
        var method: String
        var headers: [HeaderField]
        var sendsBody: Bool
        var sendsCredentials: Bool
        var mayExpect: Bool
        var asksFirst = false
        var authorization: Authorization?
        var fragment: String?
        var replacedBody: [UInt8]?
        var netrcMachine: String?
    }

    enum Authorization: Sendable, Equatable {
        /// The value of the Authorization field.
        case field(String)
        /// An authorisation by libcurl, whose steps are bound to a connection.
        case connection(ConnectionScheme, ChallengeCredential)
    }

    /// Whether libcurl continues automatically after a 401 that carries a token (RFC 4559, MS-NTHT).
    var isConnectionAuthenticated: Bool {
        if case .connection = authorization { return true }
        return false
    }

    /// The URL with its fragment.
    var reference: String { fragment.map { "\(url)#\($0)" } ?? url }

    /// Sets the URL. One without a fragment inherits the current fragment (RFC 9110 §10.2.2).
    mutating func go(to reference: String) {
        guard let hash = reference.utf8.firstIndex(of: UInt8(ascii: "#")) else {
            url = reference
            return
        }
        url = String(reference[..<hash])
        fragment = String(reference[reference.utf8.index(after: hash)...])
    }

    /// Removes the body and the fields that describe one (RFC 9110 §15.4).
    mutating func dropBody() {
        sendsBody = false
        replacedBody = nil
        headers.removeAll { field in
            let name = field.name.lowercased()
            return name.hasPrefix("content-") || Self.bodyFields.contains(name)
        }
    }

    private static let bodyFields: Set<String> = [
        "transfer-encoding", "trailer", "expect", "digest", "repr-digest", "last-modified",
    ]
}
