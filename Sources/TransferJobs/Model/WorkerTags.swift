/// The tags of a worker, or those that a job needs its worker to have: lower-case letters, digits, `.`, `_` and `-`.
public struct WorkerTags: Sendable, Hashable, CustomStringConvertible {
    /// No tags.
    public static let none = WorkerTags()
    /// The maximum number of tags.
    public static let most = 16

    /// The tags in alphabetical order, without repetition.
    public let names: [String]

    private init() { names = [] }

    /// Creates tags.
    ///
    /// - Returns: `nil` for invalid names, or more than ``most``.
    public init?(_ names: some Sequence<String>) {
        let sorted = Set(names).sorted()
        guard sorted.count <= Self.most, sorted.allSatisfy({ Self.refusal(of: $0) == nil }) else { return nil }
        self.names = sorted
    }

    /// Parses tags.
    ///
    /// - Parameter text: Names separated by commas.
    /// - Returns: `nil` for an invalid text.
    public init?(text: String) {
        self.init(text.split(separator: ",", omittingEmptySubsequences: false).map(String.init))
    }

    /// Whether there are no tags.
    public var isEmpty: Bool { names.isEmpty }

    /// The names separated by commas; equal tags have the same text.
    public var text: String { names.joined(separator: ",") }

    /// The names separated by commas and blanks.
    public var description: String { names.joined(separator: ", ") }

    /// Returns whether a worker with these tags may run a job that needs the other ones. A worker without tags runs
    /// only jobs that need none.
    public func cover(_ wanted: WorkerTags) -> Bool { Set(names).isSuperset(of: wanted.names) }

    /// Explains why a name is no tag; `nil` for a valid one.
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

/// The condition that a worker of a shared queue must meet to run a job.
public struct WorkerRule: Sendable, Hashable {
    /// The tags that the worker must have, all of them.
    public var tags = WorkerTags.none

    /// Creates a rule that every worker meets.
    public init() {}
}
