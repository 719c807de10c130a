/// The places in a job file that set the rules of a job's network, in the job itself or in the defaults.
public struct NetworkPlaces: Sendable, Hashable {
    private var places: [NetworkKey: SourceSpan] = [:]

    /// Creates an empty set of places.
    public init() {}

    /// Whether no place is known.
    public var isEmpty: Bool { places.isEmpty }

    /// The place of a key's value, one character long.
    public subscript(_ key: NetworkKey) -> SourceSpan? {
        get { places[key] }
        set { places[key] = newValue.map { SourceSpan(line: $0.line, column: $0.column) } }
    }

    /// Returns these places, and those of the defaults for keys that have none here.
    package func over(_ defaults: NetworkPlaces) -> NetworkPlaces {
        if defaults.isEmpty { return self }
        var result = self
        result.places.merge(defaults.places) { own, _ in own }
        return result
    }

    /// The text form of the places for the store: `metered=9:18 require=10:18`.
    package var text: String {
        NetworkKey.allCases.compactMap { key in
            places[key].map { "\(key.rawValue)=\($0.line):\($0.column)" }
        }.joined(separator: " ")
    }

    /// Restores the places from `text`; entries that cannot be parsed are ignored.
    package init(text: String) {
        for entry in text.split(separator: " ") {
            let parts = entry.split { $0 == "=" || $0 == ":" }
            guard parts.count == 3, let key = NetworkKey(rawValue: String(parts[0])), let line = Int(parts[1]),
                let column = Int(parts[2])
            else { continue }
            places[key] = SourceSpan(line: line, column: column)
        }
    }
}
