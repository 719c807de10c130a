/// The keys of a job file, version 1, but for those of its jobs: see ``JobFields``. A test holds them and `jobs/transfer-jobs.schema.json` together.
enum FileKey: String, CaseIterable {
    case schema = "$schema"
    case version, name, defaults, limits, jobs, watch

    static let table = KeyTable(allCases)
    /// Of the first line of a `.jsonl` file.
    static let headerTable = KeyTable(allCases.filter { $0 != .jobs })
}

enum LimitKey: String, CaseIterable {
    case concurrency, perHost, limitRate, requestRate

    static let table = KeyTable(allCases)
}

enum SecretKey: String, CaseIterable {
    case env, file, credential

    static let table = KeyTable(allCases)
}
