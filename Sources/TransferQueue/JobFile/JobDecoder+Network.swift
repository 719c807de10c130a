import TransferCore

/// The rules by which a job uses the machine's links.
extension JobDecoder {
    mutating func network(into rules: inout JobDefaults) throws(JSONFault) {
        var policy = rules.settings.network
        var places = rules.networkRanges
        let seen = try object(JobFields.network.table) { (decoder, field) throws(JSONFault) in
            if !decoder.isTrusted, let key = NetworkKey(rawValue: field.key) {
                places[key] = decoder.brace(decoder.reader.offset)
            }
            try field.read(&decoder, &policy)
        }
        guard let seen else { return }
        rules.settings.network = policy
        rules.networkRanges = places
        if !isTrusted { checkMetered(policy, seen, places) }
    }

    /// One object's own keys: what the defaults say stands back behind a job's `metered`.
    private mutating func checkMetered(_ policy: NetworkPolicy, _ seen: UInt64, _ places: [NetworkKey: Range<Int>]) {
        func has(_ key: NetworkKey) -> Bool {
            seen & JobFields.network.table.bit(of: key.rawValue) != 0
        }
        guard has(.metered), let metered = policy.metered else { return }
        if has(.meteredAfter), metered != .avoid, let place = places[.meteredAfter] {
            note("\"meteredAfter\" belongs to \"metered\": \"avoid\"", place)
        }
        if has(.meteredBudget), metered == .forbid, policy.meteredBudget != nil, let place = places[.meteredBudget] {
            note("\"meteredBudget\" doesn't go with \"metered\": \"forbid\"", place)
        }
    }

    mutating func links() throws(JSONFault) -> [LinkPattern] {
        var patterns: [LinkPattern] = []
        _ = try array("an array of kinds or interfaces") { (decoder) throws(JSONFault) in
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

    /// An empty one lifts that of the defaults.
    mutating func requiredLink() throws(JSONFault) -> LinkPattern? {
        guard let text = try text() else { return nil }
        let word = reader.string(text)
        if isTrusted { return LinkPattern(word) }
        if word.isEmpty { return nil }
        guard let message = LinkRule.refusal(ofName: word) else { return LinkPattern(word) }
        note(message, text.token)
        return nil
    }

    /// `"unlimited"` lifts that of the defaults.
    mutating func meteredBudget() throws(JSONFault) -> MeteredBudget? {
        guard let text = try text() else { return nil }
        let word = reader.string(text)
        if word == "unlimited" { return nil }
        if let budget = MeteredBudget(word) { return budget }
        note("not an amount of bytes for a time; write \"500M/day\", with hour, day, week or month", text.token)
        return nil
    }

    /// A window of time, or an array of them; an empty one lifts that of the defaults.
    mutating func schedule() throws(JSONFault) -> Schedule {
        var schedule = Schedule()
        let kind = try reader.kind()
        switch kind {
        case .string: try window(into: &schedule)
        case .array:
            _ = try array { (decoder) throws(JSONFault) in
                guard try decoder.expect(.string) else { return }
                try decoder.window(into: &schedule)
            }
        default: try mismatch("a window of time such as \"22:00-06:00\", or an array of them", kind)
        }
        return schedule
    }

    private mutating func window(into schedule: inout Schedule) throws(JSONFault) {
        let text = try reader.string()
        do {
            schedule.windows.append(try Schedule.Window(reader.string(text)))
        } catch {
            note(error.message, text.token)
        }
    }
}

/// What may stand for links in a job file.
enum LinkRule {
    /// A misspelt kind must not pass for an interface that never appears: a name needs something that kinds don't have.
    static func refusal(of word: String) -> String? {
        if word.hasPrefix(LinkPattern.mark) || !LinkPattern.isWord(word) || word.isEmpty {
            return refusal(ofName: word)
        }
        let words = LinkClass.words.map(\.rawValue) + ["vpn"]
        if words.contains(word) { return nil }
        let nearest = NearestKey.suggestion(for: word, among: words).map { "did you mean \"\($0)\"?" }
        return "unknown kind \(Wording.quoted(word)); \(nearest ?? "\(Wording.alternatives(words)) are possible;") "
            + "an interface of that name is written \"\(LinkPattern.mark)\(word)\""
    }

    /// Interfaces' names are up to 15 bytes (IFNAMSIZ, netdevice(7)), without a slash or white space.
    static func refusal(ofName text: String) -> String? {
        let name = text.hasPrefix(LinkPattern.mark) ? String(text.dropFirst(LinkPattern.mark.count)) : text
        if name.isEmpty { return "the name of an interface is empty" }
        let isPattern = name.contains { "*?[".contains($0) }
        guard isPattern || name.utf8.count <= 15 else { return "the name of an interface has at most 15 characters" }
        let isClean = name.unicodeScalars.allSatisfy {
            $0 != "/" && $0 != ":" && $0.value > 0x20 && DisplayWidth.isPrintable($0)
        }
        return isClean ? nil : "not the name of an interface: \(Wording.quoted(name))"
    }
}
