import FoundationEssentials

extension NetworkPolicy {
    /// The rules as a text, equal for equal rules; empty without any rule.
    ///
    /// - Note: ``init(key:)`` reads this text, and the queue's database groups its jobs by it.
    package var key: String {
        guard self != NetworkPolicy() else { return "" }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // A policy that was decoded from a job file can always be encoded.
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Restores the rules from ``key``.
    ///
    /// - Returns: A policy without rules for an unreadable text of a later version.
    package init(key: String) {
        guard !key.isEmpty, let policy = try? JSONDecoder().decode(NetworkPolicy.self, from: Data(key.utf8)) else {
            self.init()
            return
        }
        self = policy
    }
}
