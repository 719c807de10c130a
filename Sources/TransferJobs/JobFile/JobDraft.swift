package import TransferCore

/// The values that a batch's `defaults` set for all of its jobs.
package struct JobDefaults {
    /// The settings of all jobs that set none of their own, stored once.
    package var sharedSettings = Self.noSettings
    /// The places where the current object sets the rules of its network.
    package var networkRanges: [NetworkKey: Range<Int>] = [:]
    /// The places where the batch's `defaults` set the rules of the network.
    package var networkPlaces = NetworkPlaces()
    package var priority = 0
    package var download = JobSpec.Download(urls: [], destination: "")
    package var upload = JobSpec.Upload(source: "", url: "")
    package var checksums: ChecksumList?

    package var settings: JobSettings {
        _read { yield sharedSettings.wrappedValue }
        _modify { yield &sharedSettings.wrappedValue }
    }

    package static let noSettings = Shared(wrappedValue: JobSettings())
}

/// A job while its keys, which come in any order, are read.
package struct JobDraft {
    /// The offset of the job's opening brace.
    package var start: Int
    package var rules: JobDefaults
    package var id: JSONText?
    package var to: JSONText?
    package var urlsAreWrong = false
    package var needs: [String] = []
    /// The members of `needs`, which reveal a repeated one.
    package var needed: Set<String> = []
    package var needPlaces: [Range<Int>] = []
    /// Whether the job itself names a list of checksums, which must then contain it.
    package var namesChecksums = false
    /// The destination's own rules, for a copy.
    package var destination = DestinationRules()

    package init(start: Int, rules: JobDefaults) {
        self.start = start
        self.rules = rules
    }

    /// The places of the parts to which later faults refer.
    package var places: JobPlaces {
        JobPlaces(
            job: start..<start + 1, id: id?.token, to: to?.token, needs: needPlaces, network: rules.networkRanges,
            defaultNetwork: rules.networkPlaces)
    }
}

/// The byte ranges of a job and of its parts.
package struct JobPlaces {
    package var job: Range<Int>
    package var id: Range<Int>?
    package var to: Range<Int>?
    package var needs: [Range<Int>] = []
    package var network: [NetworkKey: Range<Int>] = [:]
    package var defaultNetwork = NetworkPlaces()
}
