import ArgumentParser
import TransferCore
import TransferQueue

/// The method and the body of a download's request; GET without a body by default.
struct MessageOptions: ParsableArguments {
    @Option(
        name: [.customShort("X"), .customLong("method"), .customLong("request")],
        help: ArgumentHelp("The request's method.", valueName: "name"), transform: MethodArgument.text)
    var method: String?

    @Option(
        help: ArgumentHelp(
            "The body of the request, sent as it is. @FILE sends the content of a file. The request becomes a POST.",
            valueName: "text|@file"))
    var data: String?

    func body() throws -> String? { try data.map(DataArgument.text) }
}
