import TransferCore

// The coding uses the keys and texts of a job file.
extension NetworkPolicy: Codable {
    private enum CodingKeys: String, CodingKey {
        case allow, avoid, prefer, require, metered, meteredBudget, meteredAfter, schedule
    }

    /// Decodes a policy from the keys of a job file.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        allow = try values.decodeIfPresent([LinkPattern].self, forKey: .allow) ?? []
        avoid = try values.decodeIfPresent([LinkPattern].self, forKey: .avoid) ?? []
        prefer = try values.decodeIfPresent([LinkPattern].self, forKey: .prefer) ?? []
        require = try values.decodeIfPresent(LinkPattern.self, forKey: .require)
        metered = try values.decodeIfPresent(Metered.self, forKey: .metered)
        meteredBudget = try values.decodeIfPresent(MeteredBudget.self, forKey: .meteredBudget)
        // Durations are written with a precision of milliseconds.
        meteredAfter = try values.decodeIfPresent(Double.self, forKey: .meteredAfter).map {
            .milliseconds(Int64(min(max(0, $0 * 1000), 9e15)))
        }
        schedule = try values.decodeIfPresent(Schedule.self, forKey: .schedule) ?? Schedule()
    }

    /// Encodes the policy with the keys of a job file.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        if !allow.isEmpty { try values.encode(allow, forKey: .allow) }
        if !avoid.isEmpty { try values.encode(avoid, forKey: .avoid) }
        if !prefer.isEmpty { try values.encode(prefer, forKey: .prefer) }
        try values.encodeIfPresent(require, forKey: .require)
        try values.encodeIfPresent(metered, forKey: .metered)
        try values.encodeIfPresent(meteredBudget, forKey: .meteredBudget)
        try values.encodeIfPresent(meteredAfter.map { Double($0.inMilliseconds) / 1000 }, forKey: .meteredAfter)
        if !schedule.isAlways { try values.encode(schedule, forKey: .schedule) }
    }
}

extension MeteredBudget: Codable {
    /// Decodes the text form.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let budget = MeteredBudget(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "no amount of bytes a period: \(text)")
        }
        self = budget
    }

    /// Encodes the text form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension Schedule: Codable {
    /// Decodes an array of windows.
    public init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        self.init()
        while !container.isAtEnd { windows.append(try Window(try container.decode(String.self))) }
    }

    /// Encodes an array of windows.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for window in windows { try container.encode(window.text) }
    }
}
