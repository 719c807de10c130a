/// The parameters of a call, without its secret.
struct AriaParameters {
    private let values: [JSONValue]

    init(_ values: [JSONValue]) { self.values = values }

    var count: Int { values.count }

    subscript(_ index: Int) -> JSONValue? { values.indices.contains(index) ? values[index] : nil }

    func text(_ index: Int) throws -> String { try required(index, \.text) }

    func list(_ index: Int) throws -> [JSONValue] { try required(index, \.elements) }

    func integer(_ index: Int) throws -> Int { try required(index, \.integer) }

    /// Returns an integer that is not less than a limit.
    func integer(_ index: Int, from least: Int) throws -> Int {
        let number = try integer(index)
        guard number >= least else {
            throw AriaError(
                "The integer parameter at \(index) has invalid value: "
                    + "the value must be greater than or equal to \(least).")
        }
        return number
    }

    func members(_ index: Int) throws -> [String: JSONValue] { try required(index, \.members) }

    /// Returns options, which may be missing.
    func options(_ index: Int) throws -> [String: JSONValue] { self[index] == nil ? [:] : try members(index) }

    /// Returns the keys that the result should have; `nil` for all.
    func keys(_ index: Int) throws -> Set<String>? {
        guard self[index] != nil else { return nil }
        let keys = try list(index).compactMap(\.text)
        return keys.isEmpty ? nil : Set(keys)
    }

    private func required<Value>(_ index: Int, _ read: (JSONValue) -> Value?) throws -> Value {
        guard let value = self[index] else {
            throw AriaError("The parameter at \(index) is required but missing.")
        }
        guard let result = read(value) else { throw AriaError("The parameter at \(index) has wrong type.") }
        return result
    }
}
