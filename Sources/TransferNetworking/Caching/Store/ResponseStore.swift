import Foundation

/// Keeps answers for a session.
protocol ResponseStore: Sendable {
    /// Whether it's known, without looking far, that nothing is stored.
    var isEmpty: Bool { get }
    /// Bytes; longer ones aren't stored.
    var longestBody: Int { get }
    var invalidations: InvalidationLog { get }

    /// Calls `found` with what there is of a URL: at once, or from a queue of the store where a disk is read.
    func find(_ key: String, _ found: @escaping @Sendable ([StoredResponse]) -> Void)
    /// Stores it, in place of those that it replaces.
    func insert(_ response: StoredResponse)
    /// Drops one answer, where it's still there.
    func remove(_ response: StoredResponse)
    /// Drops all of a URL.
    func removeAll(of key: String)
}

extension ResponseStore {
    /// Drops what a request that isn't safe has made invalid (RFC 9111 §4.4).
    func invalidate(_ keys: [String]) {
        guard !keys.isEmpty else { return }
        invalidations.note(keys)
        for key in keys { removeAll(of: key) }
    }
}

extension [StoredResponse] {
    /// The answers of one URL that are kept: what a server varies by may have no end.
    private static let limit = 16

    /// - Returns: With `response`, and without those it replaces.
    func inserting(_ response: StoredResponse) -> [StoredResponse] {
        filter { !$0.isReplaced(by: response) }.suffix(Self.limit - 1) + [response]
    }

    /// - Returns: Without the answer, whatever has become of its fields.
    func removing(_ response: StoredResponse) -> [StoredResponse] {
        filter { $0.selection != response.selection || $0.identity != response.identity }
    }
}
