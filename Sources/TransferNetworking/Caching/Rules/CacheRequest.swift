import Foundation
import FoundationNetworking
import TransferCore

/// The properties of a request that matter to the cache.
struct CacheRequest: Sendable {
    /// The program's instruction about the cache, apart from the request's header fields.
    enum Policy: Sendable, Equatable {
        /// The rules of RFC 9111 apply.
        case rules
        /// The server is asked, whatever is stored.
        case reload
        /// The server is asked to confirm the stored response before it is used.
        case revalidate
        /// The stored response is used at any age.
        case storedElseLoad
        /// The stored response is used at any age, and the network is never used.
        case storedOnly
    }

    let key: String
    let isHead: Bool
    let fields: [HeaderField]
    let control: CacheControl
    let policy: Policy
    /// The digest of the credentials that the request carries; `nil` without credentials.
    let identity: String?
    /// Whether the request asks for a range or has conditions of its own, so that only the server can answer it.
    let isConditional: Bool

    /// - Parameter identity: A digest that replaces the one of `Authorization`.
    init(
        key: String, method: String = "GET", fields: [HeaderField] = [], policy: Policy = .rules,
        identity: String? = nil
    ) {
        self.key = key
        isHead = method == "HEAD"
        self.fields = fields
        self.policy = policy
        var control = CacheControl(fields)
        // §5.4: Pragma counts only where Cache-Control is missing.
        if control.isEmpty, fields.tokens("Pragma").contains("no-cache") { control = CacheControl("no-cache") }
        self.control = control
        self.identity = identity ?? fields.value("Authorization").map { CacheKey.digest($0) ?? $0 }
        let conditions = ["If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range", "Range"]
        isConditional = fields.contains { field in conditions.contains { field.isNamed($0) } }
    }

    /// Returns the value by which a response that varies by the field is selected (§4.1). Lines are joined, and white
    /// space around commas is removed.
    func selectingValue(_ name: String) -> String {
        let values = fields.values(name)
        guard !values.isEmpty else { return "" }
        let members = values.joined(separator: ",").split(separator: ",", omittingEmptySubsequences: false)
        let text = members.map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: ",")
        // The value of a cookie or a token must not reach a disk, hence the digest.
        return CacheKey.digest(text) ?? text
    }
}

extension CacheRequest.Policy {
    init(_ policy: URLRequest.CachePolicy) {
        switch policy {
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData: self = .reload
        case .returnCacheDataElseLoad: self = .storedElseLoad
        case .returnCacheDataDontLoad: self = .storedOnly
        case .reloadRevalidatingCacheData: self = .revalidate
        default: self = .rules
        }
    }
}
