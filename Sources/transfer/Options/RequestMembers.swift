import ArgumentParser
import TransferQueue

/// The values that options set for keys of `defaults`, in the order in which they are applied.
struct RequestMembers {
    private var members: [(key: String, value: JSONText, option: String)] = []

    /// Adds a value.
    ///
    /// - Parameters:
    ///   - key: The key; objects of one key are merged.
    ///   - value: The value; `nil` where the option was not given.
    ///   - option: The name of the option, for error messages.
    mutating func add(_ key: String, _ value: JSONText?, _ option: String) {
        if let value { members.append((key, value, option)) }
    }

    /// The values as JSON, in their order.
    var texts: [String] { members.map(\.value.text) }

    /// Applies the values to rules.
    ///
    /// - Throws: `ValidationError` that names the option.
    func lay(over rules: inout RequestRules, sums: @escaping (String) throws -> [UInt8] = { _ in [] }) throws {
        for member in members {
            guard let refusal = rules.set(member.key, to: member.value.text, sums: sums) else { continue }
            throw ValidationError("\(member.option): \(refusal)")
        }
    }
}

/// The given options, for another command line.
struct GivenOptions {
    private(set) var words: [String] = []

    mutating func add(_ name: String, _ value: String?) {
        if let value { words += [name, value] }
    }

    mutating func add(_ name: String, _ isGiven: Bool) {
        if isGiven { words.append(name) }
    }
}
