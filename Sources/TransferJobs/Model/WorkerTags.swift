/// The tags of a worker, or those that a job asks of its worker: each in lower-case letters, digits, `.`, `_` and `-`.
public struct WorkerTags: Sendable, Hashable, CustomStringConvertible {
    public static let none = WorkerTags()
    /// The most tags.
    public static let most = 16

    /// In the order of the alphabet, each once.
    public let names: [String]

    private init() { names = [] }

    /// - Returns: `nil` for names that aren't any.
    public init?(_ names: some Sequence<String>) {
        let sorted = Set(names).sorted()
        guard sorted.count <= Self.most, sorted.allSatisfy({ Self.refusal(of: $0) == nil }) else { return nil }
        self.names = sorted
    }

    /// - Parameter text: Names with commas between them.
    /// - Returns: `nil` for a text that is none.
    public init?(text: String) {
        self.init(text.split(separator: ",", omittingEmptySubsequences: false).map(String.init))
    }

    public var isEmpty: Bool { names.isEmpty }

    /// The names with commas between them: equal tags have the same text.
    public var text: String { names.joined(separator: ",") }

    public var description: String { names.joined(separator: ", ") }

    /// Whether a worker with these tags may do a job that asks for the other ones. A worker without tags does jobs that ask
    /// for none.
    public func cover(_ wanted: WorkerTags) -> Bool { Set(names).isSuperset(of: wanted.names) }

    /// The reason why a name is no tag.
    package static func refusal(of name: String) -> String? {
        let isName =
            (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
                case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
                default: false
                }
            }
        return isName ? nil : "a tag is 1 to 64 lower-case letters, digits, \".\", \"_\" and \"-\""
    }
}

/// The worker that may do a job, of those that share its queue.
public struct WorkerRule: Sendable, Hashable {
    /// The worker has all of them.
    public var tags = WorkerTags.none

    public init() {}
}
