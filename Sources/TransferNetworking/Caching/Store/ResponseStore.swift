import Foundation

/// A store of responses for a session.
protocol ResponseStore: Sendable {
    /// Whether it is known without reading a disk that nothing is stored.
    var isEmpty: Bool { get }
    /// The upper limit for bodies, in bytes; longer ones are not stored.
    var longestBody: Int { get }
    var invalidations: InvalidationLog { get }

    /// Calls `found` with the stored responses of a URL: at once, or on a queue of the store where a disk is read.
    func find(_ key: String, _ found: @escaping @Sendable ([StoredResponse]) -> Void)
    /// Stores a response, in place of those that it replaces.
    func insert(_ response: StoredResponse)
    /// Drops one response, if it is still stored.
    func remove(_ response: StoredResponse)
    /// Drops all responses of a URL.
    func removeAll(of key: String)
}

extension ResponseStore {
    /// Drops the responses that an unsafe request has made invalid (RFC 9111 §4.4).
    func invalidate(_ keys: [String]) {
        guard !keys.isEmpty else { return }
        invalidations.note(keys)
        for key in keys { removeAll(of: key) }
    }
}

extension [StoredResponse] {
    /// The most responses that are kept for one URL, as the variants of a server can be endless.
    private static let limit = 16

    /// - Returns: The responses with `response`, and without those that it replaces.
    func inserting(_ response: StoredResponse) -> [StoredResponse] {
        filter { !$0.isReplaced(by: response) }.suffix(Self.limit - 1) + [response]
    }

    /// - Returns: The responses without `response`, which is recognized even if its fields have changed.
    func removing(_ response: StoredResponse) -> [StoredResponse] {
        filter { $0.selection != response.selection || $0.identity != response.identity }
    }
}
