extension CanonicalWriter {
    /// The members that aren't defaults, in the order of their keys.
    mutating func network(_ policy: NetworkPolicy) {
        object { writer in
            for key in NetworkKey.allCases where policy.has(key) {
                writer.key(key)
                writer.value(of: key, policy)
            }
        }
    }

    fileprivate mutating func value(of key: NetworkKey, _ policy: NetworkPolicy) {
        switch key {
        case .allow: array(policy.allow) { $0.string($1.text) }
        case .avoid: array(policy.avoid) { $0.string($1.text) }
        case .prefer: array(policy.prefer) { $0.string($1.text) }
        case .require: string(policy.require?.text ?? "")
        case .metered: string(policy.effectiveMetered.rawValue)
        case .meteredBudget: string(policy.meteredBudget?.text ?? "")
        case .meteredAfter: duration(policy.meteredAfter ?? .zero)
        case .schedule:
            let windows = policy.schedule.windows.map(\.text)
            if windows.count == 1 { string(windows[0]) } else { array(windows) { $0.string($1) } }
        }
    }
}

extension NetworkPolicy {
    fileprivate func has(_ key: NetworkKey) -> Bool {
        switch key {
        case .allow: !allow.isEmpty
        case .avoid: !avoid.isEmpty
        case .prefer: !prefer.isEmpty
        case .require: require != nil
        case .metered: metered != nil
        case .meteredBudget: meteredBudget != nil
        case .meteredAfter: meteredAfter != nil
        case .schedule: !schedule.isAlways
        }
    }

    /// The value of a key as canonical JSON; `nil` when nothing is said.
    func json(_ key: NetworkKey) -> String? {
        guard has(key) else { return nil }
        var writer = CanonicalWriter()
        writer.value(of: key, self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
