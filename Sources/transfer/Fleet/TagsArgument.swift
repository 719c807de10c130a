import TransferQueue

/// The tags of a worker, separated by commas.
struct TagsArgument: OptionValue {
    let tags: WorkerTags

    init?(argument: String) {
        guard let tags = WorkerTags(text: argument) else { return nil }
        self.tags = tags
    }

    static let form =
        "tags such as gpu,eu: \(WorkerTags.most) at most, each of 1 to 64 lower-case letters, digits, \".\", \"_\" and \"-\""
}
