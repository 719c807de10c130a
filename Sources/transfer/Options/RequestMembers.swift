import ArgumentParser
import TransferQueue

/// The keys of `defaults` that options say something of, in the order in which they are laid on each other.
struct RequestMembers {
    private var members: [(key: String, value: JSONText, option: String)] = []

    /// - Parameters:
    ///   - key: The key; objects of one key are merged.
    ///   - value: `nil` where the option wasn't given.
    ///   - option: Its name, for what is wrong with the value.
    mutating func add(_ key: String, _ value: JSONText?, _ option: String) {
        if let value { members.append((key, value, option)) }
    }

    /// The values as JSON, in their order.
    var texts: [String] { members.map(\.value.text) }

    /// - Throws: `ValidationError` that names the option.
    func lay(over rules: inout RequestRules, sums: @escaping (String) throws -> [UInt8] = { _ in [] }) throws {
        for member in members {
            guard let refusal = rules.set(member.key, to: member.value.text, sums: sums) else { continue }
            throw ValidationError("\(member.option): \(refusal)")
        }
    }
}

/// Options that were given, to be given again.
struct GivenOptions {
    private(set) var words: [String] = []

    mutating func add(_ name: String, _ value: String?) {
        if let value { words += [name, value] }
    }

    mutating func add(_ name: String, _ isGiven: Bool) {
        if isGiven { words.append(name) }
    }
}
