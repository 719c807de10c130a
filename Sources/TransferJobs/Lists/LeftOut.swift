import TransferCore

/// The options of a list that were left out, each with its number of occurrences and its first line.
public struct LeftOut: Sendable, Hashable {
    private struct Entry: Sendable, Hashable {
        var name: String
        var count: Int
        var line: Int
    }

    private var entries: [Entry] = []
    private var positions: [String: Int] = [:]
    /// The number of further names that are not kept.
    private var others = 0

    private static let capacity = 200
    private static let shown = 8

    /// Creates an empty collection.
    public init() {}

    /// Whether no option was left out.
    public var isEmpty: Bool { entries.isEmpty }

    package mutating func add(_ name: String, line: Int) {
        if let position = positions[name] {
            entries[position].count += 1
        } else if entries.count < Self.capacity {
            positions[name] = entries.count
            entries.append(Entry(name: name, count: 1, line: line))
        } else {
            others += 1
        }
    }

    /// Returns a warning such as `2 options of the curl list were left out: --foo (line 3), --bar (4 times, first in
    /// line 5)`; `nil` where there are none.
    ///
    /// - Parameter format: The form of the list.
    public func words(_ format: JobFileFormat?) -> String? {
        guard !entries.isEmpty else { return nil }
        let (thing, list) =
            switch format {
            case .curl: ("option", "curl list")
            case .csv: ("column", "CSV")
            default: ("option", "aria2 list")
            }
        let named = entries.prefix(Self.shown).map { entry in
            let place =
                entry.count == 1
                ? "line \(entry.line)" : "\(CountText.words(entry.count, "time")), first in line \(entry.line)"
            return "\(Wording.printable(String(entry.name.prefix(60)))) (\(place))"
        }
        let count = entries.count + others
        let rest = count > named.count ? " and \(count - named.count) more" : ""
        let verb = count == 1 ? "was" : "were"
        return "\(Wording.count(count, thing)) of the \(list) \(verb) left out: \(named.joined(separator: ", "))\(rest)"
    }
}
