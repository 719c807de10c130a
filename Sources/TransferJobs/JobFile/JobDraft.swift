import TransferCore

/// What a batch's `defaults` set for all of its jobs.
struct JobDefaults {
    /// What all jobs have in common that don't set a rule of their own.
    var sharedSettings = Self.noSettings
    /// Where the object at hand sets the rules of its network.
    var networkRanges: [NetworkKey: Range<Int>] = [:]
    /// Where the batch does.
    var networkPlaces = NetworkPlaces()
    /// Without a proxy to belong to it waits for one in a job.
    var noProxy: String?
    var priority = 0
    var download = JobSpec.Download(urls: [], destination: "")
    var upload = JobSpec.Upload(source: "", url: "")
    var checksums: ChecksumList?

    var settings: JobSettings {
        _read { yield sharedSettings.wrappedValue }
        _modify { yield &sharedSettings.wrappedValue }
    }

    static let noSettings = Shared(wrappedValue: JobSettings())
}

/// A job while its keys, which come in any order, are read.
struct JobDraft {
    /// The offset of the job's brace.
    var start: Int
    var rules: JobDefaults
    var id: JSONText?
    var to: JSONText?
    var urlsAreWrong = false
    var needs: [String] = []
    /// The members of `needs`, to find one that is named twice.
    var needed: Set<String> = []
    var needPlaces: [Range<Int>] = []
    /// The job itself names a list of checksums, so that it must be in it.
    var namesChecksums = false

    init(start: Int, rules: JobDefaults) {
        self.start = start
        self.rules = rules
    }

    /// Where the parts are that faults found later are about.
    var places: JobPlaces {
        JobPlaces(
            job: start..<start + 1, id: id?.token, to: to?.token, needs: needPlaces, network: rules.networkRanges,
            defaultNetwork: rules.networkPlaces)
    }
}

/// Byte ranges of a job and of its parts.
struct JobPlaces {
    var job: Range<Int>
    var id: Range<Int>?
    var to: Range<Int>?
    var needs: [Range<Int>] = []
    var network: [NetworkKey: Range<Int>] = [:]
    var defaultNetwork = NetworkPlaces()
}
