import ArgumentParser
import TransferCore
import TransferQueue

/// The options for checksums of downloads, and for existing destinations.
struct ProofOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The digest that the file of the one URL must have, as sha256:HEX.", valueName: "sum"),
        transform: ChecksumArgument.read)
    var checksum: ChecksumArgument?

    @Option(
        help: ArgumentHelp(
            "A list of checksums in the format of sha256sum or openssl, as a file or a URL. Each file is looked up in "
                + "it.",
            valueName: "file|url"), completion: .file(), transform: PathArgument.text)
    var checksums: String?

    @Option(
        name: .customLong("if-exists"),
        help: """
            The action when the file exists already: verify, update, overwrite, skip, rename, fail.
            """,
        completion: .list(Choice<JobSpec.IfExists>.names), transform: Choice.read)
    var ifExists: Choice<JobSpec.IfExists>?

    @Flag(help: ArgumentHelp(StrictArgument.help))
    var strict = false

    /// Reads the list of checksums.
    func list(_ documents: FetchedDocument) throws -> ChecksumList? {
        guard let name = checksums else { return nil }
        do {
            return ChecksumList(
                try JobFileSource.sums(documents)(FetchedDocument.isURL(name) ? name : Composition.absolute(name)))
        } catch is ChecksumSource.ListNotRead {
            return .unread
        }
    }

    /// Applies the options over the lists.
    func lay(over rules: inout RequestRules, _ documents: FetchedDocument) throws {
        var members = RequestMembers()
        members.add("ifExists", ifExists.map { .string($0.value.rawValue) }, "--if-exists")
        members.add("strict", strict ? .true : nil, "--strict")
        members.add("checksums", checksums.map { FetchedDocument.isURL($0) ? .string($0) : .path($0) }, "--checksums")
        try members.lay(over: &rules, sums: JobFileSource.sums(documents))
    }
}
