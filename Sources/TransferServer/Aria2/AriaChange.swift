import TransferCore
import TransferQueue

/// A change of a download's options that leaves its content as it is.
struct AriaChange: Sendable {
    /// The rate limit in bytes a second; 0 removes it.
    private var limitRate: Int64?
    private var connections: Int?
    /// The number of attempts; 0 means no limit.
    private var tries: Int?

    /// Takes the options that can be changed out of others.
    ///
    /// - Throws: `AriaError` for an invalid value.
    init(taking options: inout [String: String]) throws {
        try AriaOptionRule.check(options)
        if let text = options.removeValue(forKey: "max-download-limit") {
            guard let rate = ByteCount.parse(text) else { throw AriaError.option("max-download-limit") }
            limitRate = rate
        }
        // As for a new download, the smaller number of connections applies.
        connections = ["split", "max-connection-per-server"].compactMap {
            options.removeValue(forKey: $0).flatMap { Int($0) }
        }.min()
        tries = options.removeValue(forKey: "max-tries").flatMap { Int($0) }
    }

    var isEmpty: Bool { limitRate == nil && connections == nil && tries == nil }

    /// Whether the change can be made to a job whose settings are sealed with its secrets.
    var isOfSealed: Bool { tries == nil }

    func make(_ spec: inout JobSpec) {
        if let limitRate { spec.settings.limitRate = limitRate == 0 ? nil : limitRate }
        if let tries { spec.settings.retry.limit = tries == 0 ? FieldRanges.retries.upperBound : tries - 1 }
        guard let connections, case .download(var download) = spec.work else { return }
        download.segments = .exactly(min(connections, FieldRanges.segments.upperBound))
        spec.work = .download(download)
    }
}
