package import TransferCore

/// What a batch's `defaults` set for all of its jobs.
package struct JobDefaults {
    /// What all jobs have in common that don't set a rule of their own.
    package var sharedSettings = Self.noSettings
    /// Where the object at hand sets the rules of its network.
    package var networkRanges: [NetworkKey: Range<Int>] = [:]
    /// Where the batch does.
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
    /// The offset of the job's brace.
    package var start: Int
    package var rules: JobDefaults
    package var id: JSONText?
    package var to: JSONText?
    package var urlsAreWrong = false
    package var needs: [String] = []
    /// The members of `needs`, to find one that is named twice.
    package var needed: Set<String> = []
    package var needPlaces: [Range<Int>] = []
    /// The job itself names a list of checksums, so that it must be in it.
    package var namesChecksums = false
    /// Of a copy.
    package var destination = DestinationRules()

    package init(start: Int, rules: JobDefaults) {
        self.start = start
        self.rules = rules
    }

    /// Where the parts are that faults found later are about.
    package var places: JobPlaces {
        JobPlaces(
            job: start..<start + 1, id: id?.token, to: to?.token, needs: needPlaces, network: rules.networkRanges,
            defaultNetwork: rules.networkPlaces)
    }
}

/// Byte ranges of a job and of its parts.
package struct JobPlaces {
    package var job: Range<Int>
    package var id: Range<Int>?
    package var to: Range<Int>?
    package var needs: [Range<Int>] = []
    package var network: [NetworkKey: Range<Int>] = [:]
    package var defaultNetwork = NetworkPlaces()
}
