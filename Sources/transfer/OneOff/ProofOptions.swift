import ArgumentParser
import TransferCore
import TransferQueue

/// The checksums of downloads, and the rule for destinations that exist.
struct ProofOptions: ParsableArguments {
    @Option(help: ArgumentHelp("What one URL's file must hash to, as sha256:HEX.", valueName: "sum"))
    var checksum: ChecksumArgument?

    @Option(
        help: ArgumentHelp(
            "A file of checksums as sha256sum writes it, in which each file is looked up.", valueName: "file"))
    var checksums: String?

    @Option(
        name: .customLong("if-exists"), help: "When the file is there: verify, update, overwrite, skip, rename, fail.")
    var ifExists: IfExistsArgument?

    @Flag(help: ArgumentHelp(StrictArgument.help))
    var strict = false

    /// The list of checksums, read.
    func list() throws -> ChecksumList? {
        try checksums.map { ChecksumList(try JobFileSource.readSums(Composition.absolute($0))) }
    }

    /// Lays the options over what lists say.
    func lay(over rules: inout RequestRules) throws {
        var members = RequestMembers()
        members.add("ifExists", ifExists.map { .string($0.value.rawValue) }, "--if-exists")
        members.add("strict", strict ? .true : nil, "--strict")
        members.add("checksums", checksums.map { .path($0) }, "--checksums")
        try members.lay(over: &rules, sums: JobFileSource.readSums)
    }
}
