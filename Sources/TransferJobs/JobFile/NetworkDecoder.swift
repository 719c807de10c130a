/// The reader of the rules for a job's use of the machine's links.
package enum NetworkDecoder {
    package static func read(_ decoder: inout JobDecoder, into rules: inout JobDefaults) throws(JSONFault) {
        var policy = rules.settings.network
        var places = rules.networkRanges
        let seen = try decoder.object(NetworkFields.all.table) { (decoder, field) throws(JSONFault) in
            if !decoder.isTrusted, let key = NetworkKey(rawValue: field.key) {
                places[key] = decoder.brace(decoder.reader.offset)
            }
            if let copy = field.copy, try decoder.unsets() { return copy(&policy, NetworkPolicy()) }
            try field.read(&decoder, &policy)
        }
        guard let seen else { return }
        rules.settings.network = policy
        rules.networkRanges = places
        if !decoder.isTrusted { checkMetered(&decoder, policy, seen, places) }
    }

    /// Checks the keys of a single object. Conflicting keys of the defaults give way to a job's `metered`.
    private static func checkMetered(
        _ decoder: inout JobDecoder, _ policy: NetworkPolicy, _ seen: UInt64, _ places: [NetworkKey: Range<Int>]
    ) {
        func has(_ key: NetworkKey) -> Bool {
            seen & NetworkFields.all.table.bit(of: key.rawValue) != 0
        }
        guard has(.metered), let metered = policy.metered else { return }
        if has(.meteredAfter), metered != .avoid, let place = places[.meteredAfter] {
            decoder.note("\"meteredAfter\" belongs to \"metered\": \"avoid\"", place)
        }
        if has(.meteredBudget), metered == .forbid, policy.meteredBudget != nil, let place = places[.meteredBudget] {
            decoder.note("\"meteredBudget\" does not go with \"metered\": \"forbid\"", place)
        }
    }

    package static func links(_ decoder: inout JobDecoder) throws(JSONFault) -> [LinkPattern] {
        var patterns: [LinkPattern] = []
        _ = try decoder.array("an array of kinds or interfaces") { (decoder) throws(JSONFault) in
            guard let text = try decoder.text() else { return }
            let word = decoder.reader.string(text)
            if !decoder.isTrusted, let message = LinkRule.refusal(of: word) {
                decoder.note(message, text.token)
            } else {
                patterns.append(LinkPattern(word))
            }
        }
        return patterns
    }

    /// Reads the only link to use. An empty text lifts the rule of the defaults.
    package static func requiredLink(_ decoder: inout JobDecoder) throws(JSONFault) -> LinkPattern? {
        guard let text = try decoder.text() else { return nil }
        let word = decoder.reader.string(text)
        if decoder.isTrusted { return LinkPattern(word) }
        if word.isEmpty { return nil }
        guard let message = LinkRule.refusal(ofName: word) else { return LinkPattern(word) }
        decoder.note(message, text.token)
        return nil
    }

    /// Reads the number of bytes that metered links may carry. `"unlimited"` lifts the limit of the defaults.
    package static func meteredBudget(_ decoder: inout JobDecoder) throws(JSONFault) -> MeteredBudget? {
        guard let text = try decoder.text() else { return nil }
        let word = decoder.reader.string(text)
        if word == "unlimited" { return nil }
        if let budget = MeteredBudget(word) { return budget }
        decoder.note("not an amount of bytes for a time; write \"500M/day\", with hour, day, week or month", text.token)
        return nil
    }

    /// Reads a window of time, or an array of them. An empty one lifts the windows of the defaults.
    package static func schedule(_ decoder: inout JobDecoder) throws(JSONFault) -> Schedule {
        var schedule = Schedule()
        let kind = try decoder.reader.kind()
        switch kind {
        case .string: try window(&decoder, into: &schedule)
        case .array:
            _ = try decoder.array { (decoder) throws(JSONFault) in
                guard try decoder.expect(.string) else { return }
                try window(&decoder, into: &schedule)
            }
        default: try decoder.mismatch("a window of time such as \"22:00-06:00\", or an array of them", kind)
        }
        return schedule
    }

    private static func window(_ decoder: inout JobDecoder, into schedule: inout Schedule) throws(JSONFault) {
        let text = try decoder.reader.string()
        do {
            schedule.windows.append(try Schedule.Window(decoder.reader.string(text)))
        } catch {
            decoder.note(error.message, text.token)
        }
    }
}
