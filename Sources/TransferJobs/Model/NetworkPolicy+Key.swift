import FoundationEssentials

extension NetworkPolicy {
    /// The rules as a text that is the same for the same rules; empty where nothing is ruled.
    ///
    /// - Note: It's what ``init(key:)`` reads, and what the queue's database groups its jobs by.
    package var key: String {
        guard self != NetworkPolicy() else { return "" }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // What was decoded from a job file can be encoded.
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// - Returns: No rules for what a later version wrote that can't be read.
    package init(key: String) {
        guard !key.isEmpty, let policy = try? JSONDecoder().decode(NetworkPolicy.self, from: Data(key.utf8)) else {
            self.init()
            return
        }
        self = policy
    }
}
