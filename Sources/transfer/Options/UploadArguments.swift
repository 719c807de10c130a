import ArgumentParser
import TransferCore
import TransferQueue

/// The server of s3:// URLs; credentials are where the AWS tools look for them, never on a command line.
struct S3Arguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The server of s3:// URLs, where it isn't Amazon's, with a path above its buckets if it has one.",
            valueName: "url"), transform: EndpointArgument.text)
    var endpoint: String?

    @Option(help: ArgumentHelp("The region of the bucket.", valueName: "name"))
    var region: String?

    @Option(help: ArgumentHelp("The profile of the AWS tools' files.", valueName: "name"))
    var profile: String?

    /// Lays the options over what job files say.
    func lay(over rules: inout RequestRules) throws {
        var members = RequestMembers()
        members.add("s3", endpoint.map { .object(["endpoint": .string($0)]) }, "--endpoint")
        members.add("s3", region.map { .object(["region": .string($0)]) }, "--region")
        members.add("s3", profile.map { .object(["profile": .string($0)]) }, "--profile")
        try members.lay(over: &rules)
    }
}
