import TransferCore

/// The meaning of another tool's option in a job file.
package enum ListMeaning: Sendable {
    /// An option that states the default, or does not affect the transferred data.
    case harmless
    /// An option that is left out, which is reported.
    case leftOut
    /// An option without which the job would differ; the text says what to do instead.
    case refused(String)
    /// An option that may only have this value, which is the default; for other values the text says what to do
    /// instead.
    case only(String, String)
    /// An option whose value is a secret; the text says how to name it.
    case secret(String)
    /// A text for a key, such as `tls.ca`.
    case text(String)
    /// A whole number for a key.
    case number(String)
    /// A number of seconds or bytes, in a form that job files accept too.
    case amount(String)
    /// A choice, switched on by the option alone or by `true`.
    case flag(String)
    /// A header field of this name.
    case header(String)
    /// An option with a function of its own.
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
            // A zero means no limit, which is the default.
            guard Double(option.value) != 0 else { return .taken }
            draft.set(key.dottedKeys, .amount(option.value), at: option.place)
        case .flag(let key): draft.set(key.dottedKeys, .boolean(option.isOn), at: option.place)
        case .header(let name): draft.set(["headers", name], .string(option.value), at: option.place)
        case .own(let apply): return apply(option, &draft)
        }
        return .taken
    }

    /// Whether the option's value may be a secret, so that its line is never quoted.
    package var isSecret: Bool {
        if case .secret = self { return true }
        return false
    }
}

/// An option of a list, as written.
package struct ListedOption: Sendable {
    /// The long name, without dashes.
    package var name: String
    /// The option's name in messages: `--name` for curl, `name` for aria2.
    package var shown: String
    package var value = ""
    /// Whether a choice is switched on.
    package var isOn = true
    /// The place of the value, or of the name where there is no value.
    package var place: ListPlace

    package init(name: String, shown: String, value: String = "", isOn: Bool = true, place: ListPlace) {
        self.name = name
        self.shown = shown
        self.value = value
        self.isOn = isOn
        self.place = place
    }
}

extension String {
    /// The keys of a dotted path.
    package var dottedKeys: [String] { split(separator: ".").map(String.init) }
}
