import ArgumentParser
import TransferCore
import TransferQueue

struct UploadProtocolArgument: ExpressibleByArgument {
    let value: JobSpec.UploadProtocol

    init?(argument: String) {
        guard let value = JobSpec.UploadProtocol(rawValue: argument) else { return nil }
        self.value = value
    }
}

struct ByteCountArgument: ExpressibleByArgument {
    let bytes: Int64

    init?(argument: String) {
        guard let bytes = ByteCount.parse(argument), bytes > 0 else { return nil }
        self.bytes = bytes
    }
}

/// As the job file's `integrity` has it.
struct IntegrityArgument: ExpressibleByArgument {
    let value: JobSettings.S3Access.Integrity

    init?(argument: String) {
        guard let value = JobSettings.S3Access.Integrity(rawValue: argument) else { return nil }
        self.value = value
    }
}

/// The server of s3:// URLs; credentials are where the AWS tools look for them, never on a command line.
struct S3Arguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The server of s3:// URLs, where it isn't Amazon's, with a path above its buckets if it has one.",
            valueName: "url"))
    var endpoint: String?

    @Option(help: ArgumentHelp("The region of the bucket.", valueName: "name"))
    var region: String?

    @Option(help: ArgumentHelp("The profile of the AWS tools' files.", valueName: "name"))
    var profile: String?

    func validate() throws {
        if let refusal = endpoint.flatMap(JobSettings.S3Access.refusal(ofEndpoint:)) {
            throw ValidationError("--endpoint: \(refusal)")
        }
    }

    /// Lays the options over what job files say.
    func lay(over rules: inout RequestRules) throws {
        var members = RequestMembers()
        members.add("s3", endpoint.map { .object(["endpoint": .string($0)]) }, "--endpoint")
        members.add("s3", region.map { .object(["region": .string($0)]) }, "--region")
        members.add("s3", profile.map { .object(["profile": .string($0)]) }, "--profile")
        try members.lay(over: &rules)
    }
}
