import ArgumentParser
import TransferCore
import TransferQueue

/// The options for the server of s3:// URLs. Credentials come from the places of the AWS tools, never from a command
/// line.
struct S3Arguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The server of s3:// URLs where it is not Amazon's. The address may have a path above the buckets.",
            valueName: "url"), transform: EndpointArgument.text)
    var endpoint: String?

    @Option(help: ArgumentHelp("The region of the bucket.", valueName: "name"))
    var region: String?

    @Option(help: ArgumentHelp("The profile in the files of the AWS tools.", valueName: "name"))
    var profile: String?

    /// Applies the options over the job files.
    func lay(over rules: inout RequestRules) throws {
        var members = RequestMembers()
        members.add("s3", endpoint.map { .object(["endpoint": .string($0)]) }, "--endpoint")
        members.add("s3", region.map { .object(["region": .string($0)]) }, "--region")
        members.add("s3", profile.map { .object(["profile": .string($0)]) }, "--profile")
        try members.lay(over: &rules)
    }
}
