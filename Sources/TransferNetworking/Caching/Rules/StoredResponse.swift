import Foundation
import TransferCore
import TransferEngine

/// An answer in the store, with what is needed to judge it later (RFC 9111 §3).
struct StoredResponse: Sendable, Equatable {
    var key: String
    var status: Int
    /// Without those that belong to a connection (§3.1).
    var fields: [HeaderField]
    /// When it was asked for, and when it came: seconds since 1970.
    var requestTime: Double
    var responseTime: Double
    /// The fields that Vary names, in lower case, with what stands for the request's values (§4.1).
    var selection: [String: String] = [:]
    /// Of the request it answered.
    var identity: String?
    /// Decoded, as programs get it.
    var body = Data()
    var isMemoryOnly = false

    /// - Parameter fields: As they came.
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

    /// What it takes of memory, about.
    var cost: Int {
        fields.reduce(body.count + key.utf8.count + 256) { $0 + $1.name.utf8.count + $1.value.utf8.count + 32 }
    }

    var control: CacheControl { CacheControl(fields) }

    /// The head as programs get it: as it came, with its age where it wasn't asked about now (§4).
    func head(age: Int64?) -> ResponseHead {
        var fields = fields
        if let age { fields.set("Age", "\(age)") }
        return ResponseHead(status: status, fields: fields)
    }

    // MARK: Selecting (§4.1)

    /// - Returns: Whether the stored answer is one to this request.
    func fits(_ request: CacheRequest) -> Bool {
        guard request.key == key, !selection.keys.contains("*") else { return false }
        // A cache of one program may serve several users; what one was shown with his credentials is not the other's,
        // unless the server says that it's everybody's.
        if identity != request.identity, !control["public"] { return false }
        return selection.allSatisfy { $0.value == request.selectingValue($0.key) }
    }

    /// Whether the other one takes its place.
    func isReplaced(by other: StoredResponse) -> Bool {
        // The newest Vary counts for all of a URL.
        Set(selection.keys) != Set(other.selection.keys)
            || (selection == other.selection && (identity == other.identity || other.control["public"]))
    }

    private mutating func select(by request: CacheRequest) {
        selection = [:]
        for name in fields.tokens("Vary") { selection[name] = name == "*" ? "" : request.selectingValue(name) }
    }

    // MARK: Fields

    /// §3.1: what belongs to one connection isn't stored.
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

    /// The fields of a 304 take the place of those of the same name.
    mutating func freshen(
        with fields: [HeaderField], of request: CacheRequest, requestTime: Double, responseTime: Double
    ) {
        let new = Self.storable(fields).filter { !Self.boundToBody.contains($0.name.lowercased()) }
        let names = Set(new.map { $0.name.lowercased() })
        // An age that isn't said anew is over.
        self.fields.removeAll { names.contains($0.name.lowercased()) || $0.isNamed("Age") }
        self.fields += new
        self.requestTime = requestTime
        self.responseTime = responseTime
        select(by: request)
    }

    /// They describe the body, which stays as it is, and decoded (§3.2).
    private static let boundToBody: Set<String> = ["content-length", "content-encoding", "content-range"]

    /// Whether a 304 is about this answer: the validators it names are the stored ones (§4.3.4).
    func isConfirmed(by fields: [HeaderField]) -> Bool {
        if let new = fields.value("ETag"), let old = self.fields.value("ETag") {
            return Self.opaque(new) == Self.opaque(old)
        }
        if let new = fields.value("Last-Modified"), let old = self.fields.value("Last-Modified") { return new == old }
        return true
    }

    /// Without the mark of weakness: validation compares weakly (RFC 9110 §13.1.2).
    private static func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }

    /// What asks whether it's still so (§4.3.1); empty without a validator.
    var conditions: [HeaderField] {
        var conditions: [HeaderField] = []
        if let tag = fields.value("ETag") { conditions.append(HeaderField("If-None-Match", tag)) }
        if let date = fields.value("Last-Modified") { conditions.append(HeaderField("If-Modified-Since", date)) }
        return conditions
    }
}
