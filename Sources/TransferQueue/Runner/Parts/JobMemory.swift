/// What this process knows of jobs and never stores.
struct JobMemory {
    var secrets: [Int64: JobSecrets] = [:]
    var traces = AttemptTraces()
    /// Closures of the program, by the names that jobs use.
    var providers: [String: CredentialProvider] = [:]
}
