import Foundation
import TransferCore
import TransferEngine

/// A stored response, with the data that later decisions need (RFC 9111 §3).
struct StoredResponse: Sendable, Equatable {
    var key: String
    var status: Int
    /// The header fields, without those that belong to one connection (§3.1).
    var fields: [HeaderField]
    /// The moment of the request; `responseTime` is that of the response. Both are in seconds since 1970.
    var requestTime: Double
    var responseTime: Double
    /// The fields that Vary names, in lower case, with the digests of the request's values (§4.1).
    var selection: [String: String] = [:]
    /// The digest of the credentials of the request that the response answered.
    var identity: String?
    /// The body after decoding, as programs receive it.
    var body = Data()
    var isMemoryOnly = false

    /// - Parameter fields: The fields as they were received.
    init(
        _ request: CacheRequest, status: Int, fields: [HeaderField], body: Data = Data(), requestTime: Double,
        responseTime: Double
    ) {
        key = request.key
        self.status = status
        self.fields = Self.storable(fields)
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.body = body
        identity = request.identity
        select(by: request)
    }

    /// The approximate memory that the response occupies, in bytes.
    var cost: Int {
        fields.reduce(body.count + key.utf8.count + 256) { $0 + $1.name.utf8.count + $1.value.utf8.count + 32 }
    }

    var control: CacheControl { CacheControl(fields) }

    /// Returns the head for the program: the received head, with an `Age` where the server was not asked for this
    /// request (§4).
    func head(age: Int64?) -> ResponseHead {
        var fields = fields
        if let age { fields.set("Age", "\(age)") }
        return ResponseHead(status: status, fields: fields)
    }

    // MARK: Selecting (§4.1)

    /// - Returns: Whether the stored response may answer this request.
    func fits(_ request: CacheRequest) -> Bool {
        guard request.key == key, !selection.keys.contains("*") else { return false }
        // A cache of one program may serve several users. A response to one user's credentials is not for another user,
        // unless the server calls it public.
        if identity != request.identity, !control["public"] { return false }
        return selection.allSatisfy { $0.value == request.selectingValue($0.key) }
    }

    /// Whether the other response replaces this one.
    func isReplaced(by other: StoredResponse) -> Bool {
        // The newest Vary applies to all responses of a URL.
        Set(selection.keys) != Set(other.selection.keys)
            || (selection == other.selection && (identity == other.identity || other.control["public"]))
    }

    private mutating func select(by request: CacheRequest) {
        selection = [:]
        for name in fields.tokens("Vary") { selection[name] = name == "*" ? "" : request.selectingValue(name) }
    }

    // MARK: Fields

    /// Removes the fields that belong to one connection (§3.1).
    private static func storable(_ fields: [HeaderField]) -> [HeaderField] {
        let named = Set(fields.tokens("Connection"))
        return fields.filter { field in
            let name = field.name.lowercased()
            return !named.contains(name) && !connectionFields.contains(name)
        }
    }

    private static let connectionFields: Set<String> = [
        "connection", "proxy-connection", "keep-alive", "te", "transfer-encoding", "upgrade", "proxy-authenticate",
        "proxy-authentication-info", "proxy-authorization",
    ]

    // MARK: Freshening (§3.2, §4.3.4)

    /// Replaces fields with those of the same name in a 304.
    mutating func freshen(
        with fields: [HeaderField], of request: CacheRequest, requestTime: Double, responseTime: Double
    ) {
        let new = Self.storable(fields).filter { !Self.boundToBody.contains($0.name.lowercased()) }
        let names = Set(new.map { $0.name.lowercased() })
        // An age that the 304 does not repeat is outdated.
        self.fields.removeAll { names.contains($0.name.lowercased()) || $0.isNamed("Age") }
        self.fields += new
        self.requestTime = requestTime
        self.responseTime = responseTime
        select(by: request)
    }

    /// The fields that describe the body, which stays the same and decoded (§3.2).
    private static let boundToBody: Set<String> = ["content-length", "content-encoding", "content-range"]

    /// Whether a 304 is about this response: the validators that it names are the stored ones (§4.3.4).
    func isConfirmed(by fields: [HeaderField]) -> Bool {
        if let new = fields.value("ETag"), let old = self.fields.value("ETag") {
            return Self.opaque(new) == Self.opaque(old)
        }
        if let new = fields.value("Last-Modified"), let old = self.fields.value("Last-Modified") { return new == old }
        return true
    }

    /// Removes the mark of a weak tag, as validation uses the weak comparison (RFC 9110 §13.1.2).
    private static func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }

    /// The fields of a conditional request that asks for confirmation (§4.3.1); empty without a validator.
    var conditions: [HeaderField] {
        var conditions: [HeaderField] = []
        if let tag = fields.value("ETag") { conditions.append(HeaderField("If-None-Match", tag)) }
        if let date = fields.value("Last-Modified") { conditions.append(HeaderField("If-Modified-Since", date)) }
        return conditions
    }
}
