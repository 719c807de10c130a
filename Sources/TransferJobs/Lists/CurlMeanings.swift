import TransferCore

/// The options of curl whose values need a conversion for a job file.
package enum CurlMeanings {
    package static let version: @Sendable (ListedOption, inout ListDraft) -> ListVerdict = { option, draft in
        if option.isOn { draft.set(["httpVersion"], .string("1.1"), at: option.place) }
        return .taken
    }

    package static let clobber: @Sendable (ListedOption, inout ListDraft) -> ListVerdict = { option, draft in
        draft.set(["ifExists"], .string(option.isOn ? "overwrite" : "rename"), at: option.place)
        return .taken
    }

    package static let skipExisting: @Sendable (ListedOption, inout ListDraft) -> ListVerdict = { option, draft in
        if option.isOn { draft.set(["ifExists"], .string("skip"), at: option.place) }
        return .taken
    }

    package static let active: @Sendable (ListedOption, inout ListDraft) -> ListVerdict = { option, draft in
        draft.set(["ftp", "active"], .boolean(true), at: option.place)
        return .taken
    }

    /// The option `header`: `Name: value`. `Name;` is a field without a value, and `Name:` removes a field that curl
    /// sends by default.
    package static let header: @Sendable (ListedOption, inout ListDraft) -> ListVerdict = { option, draft in
        let text = option.value
        if text.hasPrefix("@") { return .refused("\(option.shown): write each field; a file of them is not read") }
        guard let colon = text.firstIndex(of: ":") else {
            guard text.hasSuffix(";") else { return .refused("a header is written \"NAME: VALUE\"") }
            draft.addHeader(String(text.dropLast()), "", at: option.place)
            return .taken
        }
        let name = String(text[..<colon])
        let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        if Redaction.isSecretHeader(name) {
            return .refused(ListWays.header(name))
        }
        guard !value.isEmpty else { return name.asciiCaseInsensitiveEquals("Expect") ? .taken : .leftOut }
        draft.addHeader(name, String(value), at: option.place)
        return .taken
    }

    /// The option `referer`; a suffix after a semicolon only controls redirects.
    package static let referer: @Sendable (ListedOption, inout ListDraft) -> ListVerdict = { option, draft in
        let url = option.value.hasSuffix(";auto") ? String(option.value.dropLast(5)) : option.value
        guard !url.isEmpty else { return .leftOut }
        draft.set(["headers", "Referer"], .string(url), at: option.place)
        return .taken
    }

    package static let cookie: @Sendable (ListedOption, inout ListDraft) -> ListVerdict = { option, draft in
        if option.value.contains("=") {
            return .refused("\(option.shown): \(ListWays.cookie)")
        }
        // An empty value only switches on curl's own cookie store.
        if !option.value.isEmpty { draft.set(["cookies"], .string(option.value), at: option.place) }
        return .taken
    }

    package static let method: @Sendable (ListedOption, inout ListDraft) -> ListVerdict = { option, draft in
        if option.value.uppercased() == "HEAD" {
            return .refused("\(option.shown): a list only moves files; take this entry out")
        }
        draft.set(["method"], .string(option.value), at: option.place)
        return .taken
    }

    /// Returns the meaning of a proxy option.
    ///
    /// - Parameter scheme: The scheme of a proxy that is named without one.
    package static func proxy(_ scheme: String) -> @Sendable (ListedOption, inout ListDraft) -> ListVerdict {
        { option, draft in
            let url =
                option.value.isEmpty || option.value.contains("://") ? option.value : "\(scheme)://\(option.value)"
            if url.contains("@") {
                return .refused("\(option.shown): \(ListWays.proxyLogin)")
            }
            draft.set(["proxy"], .string(url), at: option.place)
            return .taken
        }
    }

    /// The option `cert`, whose value may include a password after a colon.
    package static let certificate: @Sendable (ListedOption, inout ListDraft) -> ListVerdict = { option, draft in
        if option.value.contains(":") {
            return .refused("\(option.shown): \(ListWays.passphrase)")
        }
        draft.set(["tls", "cert"], .string(option.value), at: option.place)
        return .taken
    }

    package static let pins: @Sendable (ListedOption, inout ListDraft) -> ListVerdict = { option, draft in
        let pins = option.value.split(separator: ";").map { pin in
            pin.hasPrefix("sha256//") ? "sha256/" + pin.dropFirst("sha256//".count) : String(pin)
        }
        draft.set(["tls", "pins"], .strings(pins), at: option.place)
        return .taken
    }

    package static let hostKey: @Sendable (ListedOption, inout ListDraft) -> ListVerdict = { option, draft in
        var digest = Substring(option.value)
        while digest.last == "=" { digest.removeLast() }
        draft.set(["ssh", "hostKey"], .string("SHA256:" + digest), at: option.place)
        return .taken
    }

    /// The option for the delay between attempts. With curl and aria2 the delay is constant, or their own choice for 0.
    package static let delay: @Sendable (ListedOption, inout ListDraft) -> ListVerdict = { option, draft in
        guard Double(option.value) != 0 else { return .taken }
        draft.set(["retry", "scale"], .amount(option.value), at: option.place)
        draft.set(["retry", "maxDelay"], .amount(option.value), at: option.place)
        return .taken
    }

    /// The option `max-redirs`, where −1 means no limit.
    package static let redirects: @Sendable (ListedOption, inout ListDraft) -> ListVerdict = { option, draft in
        guard let number = Int(option.value) else { return .refused("\(option.shown): not a whole number") }
        let most = FieldRanges.redirects.upperBound
        draft.set(["maxRedirects"], .integer(number < 0 ? most : min(number, most)), at: option.place)
        return .taken
    }

    package static let link: @Sendable (ListedOption, inout ListDraft) -> ListVerdict = { option, draft in
        let name = option.value.hasPrefix("if!") ? String(option.value.dropFirst(3)) : option.value
        guard !name.contains(":"), !name.contains("!"), !name.allSatisfy({ $0.isNumber || $0 == "." }) else {
            return .refused("\(option.shown): a link is named, such as eth0, not an address")
        }
        draft.set(["network", "require"], .string(name), at: option.place)
        return .taken
    }
}
