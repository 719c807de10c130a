import ArgumentParser
import TransferQueue

/// A value of an option, or of the variable that stands for it, with its own sentence about what is taken.
///
/// It isn't `ExpressibleByArgument`, whose refusals say no more than that a value is invalid: options name ``read(_:)`` as
/// their `transform`, and whoever types a bad value reads the option, the value, and what is taken in its place.
protocol OptionValue: OptionForm {
    /// - Returns: `nil` for what isn't taken.
    init?(argument: String)
}

/// What an option takes, in words.
protocol OptionForm {
    /// Goes on behind "it takes": the range, the unit, an example.
    static var form: String { get }

    /// What is wrong with that value, where there is more to say than ``form``.
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

/// The value of an option that stays the text that it is.
protocol OptionText: OptionForm {
    static func isTaken(_ argument: String) -> Bool
}

extension OptionText {
    static func text(_ argument: String) throws(RefusedValue) -> String {
        guard isTaken(argument) else { throw refusal(of: argument) }
        return argument
    }
}

/// Why a value isn't taken. The parser puts the option and the value before it.
struct RefusedValue: Error, CustomStringConvertible {
    /// ``OptionValue/form``
    let form: String
    var fault: String?

    /// `sha256 has 64 hexadecimal digits, found 2; it takes …`
    var description: String { "\(fault.map { $0 + "; " } ?? "")it takes \(form)" }

    /// The same of a variable of the environment.
    func validation(of variable: String, _ value: String) -> ValidationError {
        ValidationError("The value '\(value)' is invalid for \(variable): \(self)")
    }
}

/// A whole number of a range.
enum WholeNumber {
    /// What reads one: an option's `transform`.
    static func reader(_ range: ClosedRange<Int>) -> @Sendable (String) throws -> Int {
        { try read($0, range) }
    }

    static func read(_ argument: String, _ range: ClosedRange<Int>) throws(RefusedValue) -> Int {
        // Int reads "+3", too.
        guard argument.utf8.first != UInt8(ascii: "+"), let number = Int(argument), range.contains(number) else {
            throw RefusedValue(form: "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}

/// One of a few words, each of which stands for a value.
struct Choice<Value>: OptionValue where Value: RawRepresentable<String> & CaseIterable & Sendable {
    let value: Value

    init?(argument: String) {
        guard let value = Value(rawValue: argument) else { return nil }
        self.value = value
    }

    static var form: String { Wording.alternatives(Value.allCases.map(\.rawValue)) }
}
