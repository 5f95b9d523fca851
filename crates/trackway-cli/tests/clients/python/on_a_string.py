"""A client on a string: it does what each line on stdin says and tells what came of it."""

import asyncio
import json
import sys

import grpc


def tell(**what):
    print(json.dumps(what), flush=True)


def channels(key):
    """Makes channels to addresses; with a key, every call of theirs brings it along."""
    if key is None:
        return grpc.aio.insecure_channel

    def keyed(details):
        metadata = [*(details.metadata or ()), ("authorization", f"Bearer {key}")]
        return details._replace(metadata=grpc.aio.Metadata(*metadata))

    class Calls(grpc.aio.UnaryUnaryClientInterceptor):
        async def intercept_unary_unary(self, go_on, details, request):
            return await go_on(keyed(details), request)

    class Streams(grpc.aio.UnaryStreamClientInterceptor):
        async def intercept_unary_stream(self, go_on, details, request):
            return await go_on(keyed(details), request)

    return lambda url: grpc.aio.insecure_channel(url, interceptors=[Calls(), Streams()])


async def serve(does):
    """Every line names an `op`, which is a method of `does`. It is told in one line; a stream in one for
    each event, and one that says that it has ended."""
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        asked = json.loads(line)
        op = getattr(does, asked.pop("op"))
        try:
            if op.__name__ == "stream":
                async for event in op(**asked):
                    tell(event=event)
                tell(end=True)
            else:
                tell(answer=await op(**asked))
        except Exception as error:  # told to the test, which knows whether it expects one
            tell(error=f"{type(error).__name__}: {error}")
