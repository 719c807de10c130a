import ArgumentParser
import TransferQueue

/// The value of an option, or of the variable with the same meaning, with its own description of valid values.
///
/// The protocol replaces `ExpressibleByArgument`, whose errors only say that a value is invalid. Options use
/// ``read(_:)`` as their `transform`. The error then has the option, the value, and the valid values.
protocol OptionValue: OptionForm {
    /// Parses a value.
    ///
    /// - Returns: `nil` for an invalid value.
    init?(argument: String)
}

/// The description of an option's valid values.
protocol OptionForm {
    /// The text behind "it takes": the range, the unit, an example.
    static var form: String { get }

    /// Returns the fault of a value, where there is more to say than ``form``.
    static func fault(of argument: String) -> String?
}

extension OptionForm {
    static func fault(of argument: String) -> String? { nil }

    static func refusal(of argument: String) -> RefusedValue {
        RefusedValue(form: form, fault: fault(of: argument))
    }
}

extension OptionValue {
    static func read(_ argument: String) throws(RefusedValue) -> Self {
        guard let value = Self(argument: argument) else { throw refusal(of: argument) }
        return value
    }
}

/// The value of an option that stays a text.
protocol OptionText: OptionForm {
    static func isTaken(_ argument: String) -> Bool
}

extension OptionText {
    static func text(_ argument: String) throws(RefusedValue) -> String {
        guard isTaken(argument) else { throw refusal(of: argument) }
        return argument
    }
}

/// The error of an invalid value. The parser puts the option and the value before it.
struct RefusedValue: Error, CustomStringConvertible {
    /// The valid values (``OptionValue/form``).
    let form: String
    var fault: String?

    /// A text such as `sha256 has 64 hexadecimal digits, found 2; it takes …`.
    var description: String { "\(fault.map { $0 + "; " } ?? "")it takes \(form)" }

    /// Returns the error for a variable of the environment.
    func validation(of variable: String, _ value: String) -> ValidationError {
        ValidationError("The value '\(value)' is invalid for \(variable): \(self)")
    }
}

/// A whole number in a range.
enum WholeNumber {
    /// Returns the parser of a range, for an option's `transform`.
    static func reader(_ range: ClosedRange<Int>) -> @Sendable (String) throws -> Int {
        { try read($0, range) }
    }

    static func read(_ argument: String, _ range: ClosedRange<Int>) throws(RefusedValue) -> Int {
        // Int accepts "+3", too.
        guard argument.utf8.first != UInt8(ascii: "+"), let number = Int(argument), range.contains(number) else {
            throw RefusedValue(form: "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}

/// One of a few words, each with its value.
struct Choice<Value>: OptionValue where Value: RawRepresentable<String> & CaseIterable & Sendable {
    let value: Value

    init?(argument: String) {
        guard let value = Value(rawValue: argument) else { return nil }
        self.value = value
    }

    /// The values, as they are typed.
    static var names: [String] { Value.allCases.map(\.rawValue) }

    static var form: String { Wording.alternatives(names) }
}
