/// Where a job file sets the rules of a job's network, its own ones or those of the defaults.
public struct NetworkPlaces: Sendable, Hashable {
    private var places: [NetworkKey: SourceSpan] = [:]

    public init() {}

    public var isEmpty: Bool { places.isEmpty }

    /// Where the value of a key stands; one character long.
    public subscript(_ key: NetworkKey) -> SourceSpan? {
        get { places[key] }
        set { places[key] = newValue.map { SourceSpan(line: $0.line, column: $0.column) } }
    }

    /// These, and of the other ones those that aren't here.
    package func over(_ defaults: NetworkPlaces) -> NetworkPlaces {
        if defaults.isEmpty { return self }
        var result = self
        result.places.merge(defaults.places) { own, _ in own }
        return result
    }

    /// As the store keeps them: `metered=9:18 require=10:18`.
    package var text: String {
        NetworkKey.allCases.compactMap { key in
            places[key].map { "\(key.rawValue)=\($0.line):\($0.column)" }
        }.joined(separator: " ")
    }

    /// What `text` gave; what isn't understood is left out.
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
