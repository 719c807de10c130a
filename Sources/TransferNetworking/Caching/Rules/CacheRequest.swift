import Foundation
import FoundationNetworking
import TransferCore

/// What of a request matters to the cache.
struct CacheRequest: Sendable {
    /// What a program says about the cache, apart from what its header fields say.
    enum Policy: Sendable, Equatable {
        /// As RFC 9111 has it.
        case rules
        /// The network is asked, whatever is stored.
        case reload
        /// The server is asked about the stored answer before it's used.
        case revalidate
        /// The stored answer is used at any age.
        case storedElseLoad
        /// The stored answer is used at any age, and the network never.
        case storedOnly
    }

    let key: String
    let isHead: Bool
    let fields: [HeaderField]
    let control: CacheControl
    let policy: Policy
    /// Stands for the credentials the request carries; `nil` without any.
    let identity: String?
    /// Whether the request asks for a part, or has conditions of its own: only the server can answer it.
    let isConditional: Bool

    /// - Parameter identity: Instead of the digest of Authorization.
    init(
        key: String, method: String = "GET", fields: [HeaderField] = [], policy: Policy = .rules,
        identity: String? = nil
    ) {
        self.key = key
        isHead = method == "HEAD"
        self.fields = fields
        self.policy = policy
        var control = CacheControl(fields)
        // §5.4: it counts where Cache-Control is missing.
        if control.isEmpty, fields.tokens("Pragma").contains("no-cache") { control = CacheControl("no-cache") }
        self.control = control
        self.identity = identity ?? fields.value("Authorization").map { CacheKey.digest($0) ?? $0 }
        let conditions = ["If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range", "Range"]
        isConditional = fields.contains { field in conditions.contains { field.isNamed($0) } }
    }

    /// The value by which an answer that varies by the field is selected (§4.1): the lines joined, white space around
    /// commas left out.
    func selectingValue(_ name: String) -> String {
        let values = fields.values(name)
        guard !values.isEmpty else { return "" }
        let members = values.joined(separator: ",").split(separator: ",", omittingEmptySubsequences: false)
        let text = members.map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: ",")
        // A digest: what a request said (a cookie, a token) has no place on a disk.
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
