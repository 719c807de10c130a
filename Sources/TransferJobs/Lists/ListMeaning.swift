import TransferCore

/// What an option of another tool's list stands for in a job file.
package enum ListMeaning: Sendable {
    /// It's so anyway, or makes no difference to what is moved.
    case harmless
    /// It's told that it was left out.
    case leftOut
    /// Without it the job would be another one; the words say what to do instead.
    case refused(String)
    /// It may have this value, which is what is so anyway; for others the words say what to do instead.
    case only(String, String)
    /// A secret stands there; the words say how to name it.
    case secret(String)
    /// A text at a path of keys, such as `tls.ca`.
    case text(String)
    /// A whole number.
    case number(String)
    /// Seconds or bytes, as a job file takes them too.
    case amount(String)
    /// A choice: on by itself or by `true`.
    case flag(String)
    /// A header field of this name.
    case header(String)
    /// Something of its own.
    case own(@Sendable (ListedOption, inout ListDraft) -> ListVerdict)

    package func apply(_ option: ListedOption, to draft: inout ListDraft) -> ListVerdict {
        switch self {
        case .harmless: return .taken
        case .leftOut: return .leftOut
        case .refused(let words), .secret(let words): return .refused("\(option.shown): \(words)")
        case .only(let value, let words):
            guard option.value == value else { return .refused("\(option.shown)=\(option.value): \(words)") }
        case .text(let key): draft.set(key.dottedKeys, .string(option.value), at: option.place)
        case .number(let key):
            guard let number = Int(option.value) else { return .refused("\(option.shown): not a whole number") }
            draft.set(key.dottedKeys, .integer(number), at: option.place)
        case .amount(let key):
            // Nothing bounds it then, as without the option.
            guard Double(option.value) != 0 else { return .taken }
            draft.set(key.dottedKeys, .amount(option.value), at: option.place)
        case .flag(let key): draft.set(key.dottedKeys, .boolean(option.isOn), at: option.place)
        case .header(let name): draft.set(["headers", name], .string(option.value), at: option.place)
        case .own(let apply): return apply(option, &draft)
        }
        return .taken
    }

    /// Whether its value may be a secret, so that its line is never quoted.
    package var isSecret: Bool {
        if case .secret = self { return true }
        return false
    }
}

/// An option of a list as it is written.
package struct ListedOption: Sendable {
    /// The long name, without dashes.
    package var name: String
    /// As messages call it: `--name` of curl, `name` of aria2.
    package var shown: String
    package var value = ""
    /// Of a choice.
    package var isOn = true
    /// Of the value, or of the name where there is none.
    package var place: ListPlace
}

extension String {
    /// The keys that a dotted path names.
    package var dottedKeys: [String] { split(separator: ".").map(String.init) }
}
